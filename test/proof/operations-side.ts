import assert from 'node:assert/strict'
import { join } from 'node:path'
import { addUser, GOOD_PASSWORD } from '../support/accounts.ts'
import { graphOf, principal, STORE } from '../support/content.ts'
import type { Visitor } from '../support/http-client.ts'
import {
  ADMIN_PASSWORD,
  type InProcess,
  newContext,
  type Process,
  startInProcess,
  startProcess,
} from '../support/service.ts'
import { copyTables } from '../support/store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/waiting.ts'

export type Who = 'admin' | 'owner' | 'writer' | 'stranger'
export const users = ['owner', 'writer', 'stranger'] as const

export interface SideOptions {
  /** Where sessions are: in memory, a start ends them and their operations. */
  readonly sessions: 'memory' | 'database'
  /** A process of its own, which is killed. Otherwise the service ends in an orderly way. */
  readonly isKilled?: boolean
}

export interface Test {
  after(work: () => Promise<void>): void
}

interface Made {
  readonly contexts: readonly string[]
  readonly ids: Readonly<Record<Who, string>>
}

/** One of two services that begin alike, with everybody who uses it. */
export class Side {
  /** Of the users. */
  readonly ids: Readonly<Record<Who, string>>
  readonly contexts: readonly string[]
  visitors: Readonly<Record<Who, Visitor>>
  readonly #start: () => Promise<InProcess | Process>
  readonly #areSessionsLost: boolean
  #service: InProcess | Process
  #passed = 0
  #moment = 0

  private constructor(
    start: () => Promise<InProcess | Process>,
    { sessions }: SideOptions,
    service: InProcess | Process,
    { contexts, ids, visitors }: Made & { readonly visitors: Readonly<Record<Who, Visitor>> },
  ) {
    this.#start = start
    this.#areSessionsLost = sessions === 'memory'
    this.#service = service
    this.contexts = contexts
    this.ids = ids
    this.visitors = visitors
  }

  static async start(test: Test, options: SideOptions): Promise<Side> {
    const { sessions, isKilled = false } = options
    const folder = await temporaryFolder()
    await copyTables(folder)
    const settings = {
      'service.data.quota': 'on',
      'service.auth.token.store': sessions,
      ...(sessions === 'database' && { 'service.auth.token.key-file': join(folder, 'token.key') }),
    }
    const start = (): Promise<InProcess | Process> =>
      isKilled ? startProcess(test, { folder, settings }) : startInProcess(test, { folder, settings })
    const service = await start()
    return new Side(start, options, service, await fill(service))
  }

  /** When the present step began, by the clock of the service. */
  get moment(): string {
    return new Date(this.#moment).toISOString()
  }

  /** What is recorded from now on belongs to the next step. */
  async beginMoment(): Promise<void> {
    if ('system' in this.#service) {
      this.#passed += 1000
      this.#service.system.pass(1000)
      this.#moment = this.#service.system.now()
    } else {
      const last = Date.now()
      this.#moment = await until(Date.now, now => now > last)
    }
  }

  /** The service ends in the middle of what it does, and starts with the same data. */
  async startAnew(): Promise<void> {
    await ('system' in this.#service ? this.#service.close() : this.#service.stop('SIGKILL'))
    const service = await this.#start()
    if ('system' in service) service.system.pass(this.#passed)
    this.#service = service
    const known = Object.entries(this.visitors).map(async ([who, { cookie }]) => {
      const visitor = service.visitor()
      visitor.cookie = cookie
      if (this.#areSessionsLost) await signIn(visitor, who)
      return [who, visitor] as const
    })
    this.visitors = Object.fromEntries(await Promise.all(known)) as Record<Who, Visitor>
  }
}

/** Users and contexts: one user owns both, another one writes into the second. */
async function fill(service: InProcess | Process) {
  const admin = await service.admin()
  const ids: Record<Who, string> = { admin: '_admin', owner: '', writer: '', stranger: '' }
  const visitors: Record<Who, Visitor> = { admin, owner: admin, writer: admin, stranger: admin }
  for (const who of users) {
    ids[who] = (await addUser(admin, who)).id
    visitors[who] = service.visitor()
    await signIn(visitors[who], who)
  }
  const contexts = [await newContext(admin, [ids.owner]), await newContext(admin, [ids.owner])]
  const [, second = ''] = contexts
  const rights = {
    ...graphOf(`${admin.base}_contexts/entry/${second}`, `${STORE}write`, principal(admin, ids.owner)),
    ...graphOf(`${admin.base}${second}`, `${STORE}write`, principal(admin, ids.writer)),
  }
  assert.equal((await admin.put(`_contexts/entry/${second}`, rights)).status, 204)
  return { ids, visitors, contexts }
}

async function signIn(visitor: Visitor, who: string): Promise<void> {
  const answer = await visitor.signIn(who, who === 'admin' ? ADMIN_PASSWORD : GOOD_PASSWORD)
  assert.equal(answer.status, 200, answer.text)
}
