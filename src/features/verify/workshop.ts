import { realSystem } from '../../base/system.ts'
import { setTimeout } from 'node:timers/promises'
import { type Answer, type Client, tell } from './client.ts'
import { CannotCheck } from './outcome.ts'

/** All names that a check gives begin like this, so that `--clean` finds them after a crash. */
export const PREFIX = 'verify-'

export interface Person {
  readonly id: string
  readonly name: string
  readonly password: string
}

/** Attempts, one each second. */
const PATIENCE = 20
const STORE = 'http://entrystore.org/terms/'

/** Makes what the checks need, and removes it. */
export class Workshop {
  readonly #admin: Client
  /** Deletions, to be carried out in reverse. */
  readonly #traces: Array<() => Promise<Answer>> = []

  constructor(admin: Client) {
    this.#admin = admin
  }

  newName(what: string): string {
    return `${PREFIX}${what}-${Buffer.from(realSystem.randomBytes(6)).toString('hex')}`
  }

  /** Deletes an entry at the end. @param path of one that the check has created, or caused to be created */
  remember(path: string): void {
    this.#traces.push(() => this.#admin.ask(path, { method: 'DELETE' }))
  }

  /** @throws {CannotCheck} an access token may not create a user with a password */
  async user(): Promise<Person> {
    const name = this.newName('user')
    // It holds all kinds of characters, because the password rules of the service are unknown.
    const password = `Vf-${Buffer.from(realSystem.randomBytes(18)).toString('base64url')}-7`
    const id = await this.#create(
      '_principals?graphtype=user',
      { resource: { name, password } },
      'a user with a password',
    )
    this.remember(`_principals/entry/${id}`)
    return { id, name, password }
  }

  async group(members: readonly string[]): Promise<string> {
    const id = await this.#create(
      '_principals?graphtype=group',
      { resource: { name: this.newName('group') } },
      'a group',
    )
    this.remember(`_principals/entry/${id}`)
    const put = await this.#admin.ask(`_principals/resource/${id}`, { method: 'PUT', json: members })
    if (put.status >= 300) throw new CannotCheck(`members of a group could not be set: ${tell(put)}`)
    return id
  }

  /** @param writers ids of users and groups @param name a name that the check looks for in addresses */
  async context(writers: readonly string[] = [], name = this.newName('space')): Promise<string> {
    const id = await this.#create('_contexts?graphtype=context', { resource: { name } }, 'a context')
    this.remember(`_contexts/entry/${id}`)
    await this.share(id, writers)
    return id
  }

  /** Sets who may write to a context. */
  async share(context: string, writers: readonly string[]): Promise<void> {
    const principals = writers.map(id => ({ type: 'uri', value: this.#admin.address(`_principals/resource/${id}`) }))
    const info = { [this.#admin.address(context)]: { [`${STORE}write`]: principals } }
    const put = await this.#admin.ask(`_contexts/entry/${context}`, { method: 'PUT', json: info })
    if (put.status >= 300) throw new CannotCheck(`the access list of a context could not be set: ${tell(put)}`)
  }

  /** An entry without a file. */
  async entry(client: Client, context: string, body: unknown = {}): Promise<string> {
    const answer = await client.ask(context, { method: 'POST', json: body })
    return idIn(answer, 'an entry')
  }

  /** Uploads a file. */
  async put(
    client: Client,
    path: string,
    bytes: Uint8Array,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    return await client.ask(path, { method: 'PUT', body: bytes, headers: { 'content-type': 'text/plain', ...headers } })
  }

  /** An entry with this file. @returns its path */
  async file(
    client: Client,
    context: string,
    bytes: Uint8Array,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const path = `${context}/resource/${await this.entry(client, context)}`
    const put = await this.put(client, path, bytes, headers)
    if (put.status >= 300) throw new CannotCheck(`a file of ${bytes.length} bytes could not be uploaded: ${tell(put)}`)
    return path
  }

  async #create(path: string, body: unknown, what: string): Promise<string> {
    return idIn(await this.#admin.ask(path, { method: 'POST', json: body }), what)
  }

  /** Removes everything that was made. @returns what could not be removed, for people */
  async clear(): Promise<readonly string[]> {
    const left: string[] = []
    for (const remove of this.#traces.splice(0).reverse()) {
      const answer = await patiently(remove).catch((error: unknown) => (error as Error).message)
      if (typeof answer === 'string') left.push(answer)
      else if (answer.status >= 300 && answer.status !== 404) left.push(tell(answer))
    }
    return left
  }
}

/** Asks again while the limits of the proxy, which a check has used up, refuse it. */
async function patiently(remove: () => Promise<Answer>): Promise<Answer> {
  for (let count = 0; count < PATIENCE; count++) {
    const answer = await remove()
    if (answer.status !== 429) return answer
    await setTimeout(1000)
  }
  return await remove()
}

function idIn(answer: Answer, what: string): string {
  if (answer.status !== 201) throw new CannotCheck(`${what} could not be created: ${tell(answer)}`)
  return answer.json<{ readonly entryId: string }>().entryId
}

interface Listed {
  readonly path: string
  readonly member: 'contexts' | 'users' | 'groups'
  readonly id: 'contextId' | 'id'
  readonly of: '_contexts' | '_principals'
}

const lists: readonly Listed[] = [
  { path: 'management/contexts', member: 'contexts', id: 'contextId', of: '_contexts' },
  { path: 'management/users', member: 'users', id: 'id', of: '_principals' },
  { path: 'management/groups', member: 'groups', id: 'id', of: '_principals' },
]

/** Removes what earlier runs that crashed have left. @returns the names of what was removed @throws {CannotCheck} */
export async function removeTraces(admin: Client): Promise<readonly string[]> {
  const removed: string[] = []
  for (const { path, member, id, of } of lists) {
    for (;;) {
      const answer = await admin.ask(`${path}?query=${PREFIX}&limit=100`)
      if (answer.status !== 200) throw new CannotCheck(`${path} could not be read: ${tell(answer)}`)
      const all = answer.json<Readonly<Record<string, ReadonlyArray<Readonly<Record<string, string>>>>>>()[member] ?? []
      const left = all.filter(({ name }) => name?.startsWith(PREFIX))
      if (left.length === 0) break
      for (const found of left) {
        const deleted = await admin.ask(`${of}/entry/${encodeURIComponent(found[id] ?? '')}`, { method: 'DELETE' })
        if (deleted.status >= 300) throw new CannotCheck(`${found['name']} could not be removed: ${tell(deleted)}`)
        removed.push(found['name'] ?? '')
      }
    }
  }
  return removed
}
