import { type Answer, type Client, codeOf, tell } from './client.ts'
import { CannotCheck } from './outcome.ts'
import type { ProviderUser } from './browser.ts'
import { type Person, Workshop } from './workshop.ts'

/** Members of the extended status. */
export interface Status {
  readonly version: string
  readonly baseURI: string
  readonly startupTime: string
  readonly backup?: { readonly made?: { readonly time: string }; readonly problem?: string }
}

export interface Finding {
  readonly code: string
  readonly level: 'ok' | 'warning' | 'problem'
  readonly text: string
}

/** The service to check, its administrator, and state that the checks share. */
export class Site {
  readonly admin: Client
  /** Addresses of single nodes, which the proxy hides. */
  readonly nodes: readonly URL[]
  /** Where a mail may be sent. */
  readonly mail: string | undefined
  /** Who may sign in at an identity provider. */
  readonly providerUser: ProviderUser | undefined
  readonly workshop: Workshop
  readonly #shared = new Map<string, Promise<unknown>>()

  constructor(
    admin: Client,
    {
      nodes = [],
      mail,
      providerUser,
    }: {
      readonly nodes?: readonly URL[]
      readonly mail?: string | undefined
      readonly providerUser?: ProviderUser | undefined
    },
  ) {
    this.admin = admin
    this.nodes = nodes
    this.mail = mail
    this.providerUser = providerUser
    this.workshop = new Workshop(admin)
  }

  get base(): URL {
    return this.admin.base
  }

  get isSecure(): boolean {
    return this.base.protocol === 'https:'
  }

  /** The client at the address of the service and at each node: whatever ends, ends at all of them. */
  everywhere(client: Client): readonly Client[] {
    return [client, ...this.nodes.map(node => client.at(node))]
  }

  /** The client at each node; where none is named, at the address of the service. */
  nodesFor(client: Client): readonly Client[] {
    return this.nodes.length > 0 ? this.nodes.map(node => client.at(node)) : [client]
  }

  guest(): Client {
    return this.admin.guest()
  }

  /** Made once, for all checks that use it. */
  async #once<T>(name: string, make: () => Promise<T>): Promise<T> {
    const made = (this.#shared.get(name) as Promise<T> | undefined) ?? make()
    this.#shared.set(name, made)
    return await made
  }

  /** A user with a password. @throws {CannotCheck} */
  async person(): Promise<Person> {
    return await this.#once('person', () => this.workshop.user())
  }

  /** That user, signed in. @throws {CannotCheck} */
  async user(): Promise<Client> {
    return await this.#once('user', async () => await this.signedIn(await this.person()))
  }

  /** A new session of a user. @throws {CannotCheck} */
  async signedIn({ name, password }: Person): Promise<Client> {
    const client = this.guest()
    const answer = await client.signIn(name, password)
    if (answer.status !== 200) throw new CannotCheck(`a new user could not sign in: ${tell(answer)}`)
    return client
  }

  /** A context that only the administrator can write to. @throws {CannotCheck} */
  async context(): Promise<string> {
    return await this.#once('context', () => this.workshop.context())
  }

  /** A text of some kilobytes that only the administrator can read. @returns its path */
  async file(): Promise<{ readonly path: string; readonly bytes: Buffer }> {
    return await this.#once('file', async () => {
      const bytes = Buffer.from(Array.from({ length: 2000 }, (_, line) => `This is line ${line} of a text.\n`).join(''))
      return { path: await this.workshop.file(this.admin, await this.context(), bytes), bytes }
    })
  }

  /** The settings of the service by key, secrets masked. @throws {CannotCheck} */
  async settings(): Promise<ReadonlyMap<string, string>> {
    return await this.#once('settings', () => settingsOf(this.admin))
  }

  /** The extended status. @throws {CannotCheck} */
  async status(): Promise<Status> {
    return await this.#once('status', async () =>
      requireOk(await this.admin.ask('management/status?extended'), 'the status').json(),
    )
  }

  /** What `stowage doctor` finds from within the service. @throws {CannotCheck} */
  async findings(): Promise<readonly Finding[]> {
    return await this.#once('findings', async () => {
      const answer = requireOk(await this.admin.ask('management/findings'), 'the findings of doctor')
      return answer.json<{ readonly findings: readonly Finding[] }>().findings
    })
  }
}

/** @throws {CannotCheck} */
export async function settingsOf(admin: Client): Promise<ReadonlyMap<string, string>> {
  const answer = requireOk(await admin.ask('management/settings'), 'the settings')
  const { settings } = answer.json<{
    readonly settings: ReadonlyArray<{ readonly key: string; readonly value: string }>
  }>()
  return new Map(settings.map(({ key, value }) => [key, value]))
}

/** @throws {CannotCheck} unless the answer is 200 */
export function requireOk(answer: Answer, what: string): Answer {
  if (answer.status !== 200) throw new CannotCheck(`${what} could not be read: ${tell(answer)}`)
  return answer
}

/** Whether the answer comes from the service, not from the proxy. */
export const isOwn = (answer: Answer): boolean =>
  codeOf(answer) !== undefined || answer.headers['content-security-policy'] !== undefined
