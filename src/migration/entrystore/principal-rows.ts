import { GUEST, USERS } from '../../accounts/users.ts'
import type { Statement } from '../../graph/graph.ts'
import { contextIdOf, PRINCIPALS, principalUri } from '../../model/addresses.ts'
import { placeOf, type ReadEntry } from './entry-graph.ts'
import { readMembers } from './members.ts'
import type { Report } from './report.ts'
import type { RowTarget } from './row-sink.ts'
import type { Survey } from './survey.ts'
import { readUserGraph } from './user-graph.ts'

/** Computes password hashes, on other threads. */
export interface PasswordHashing {
  hash(password: string): Promise<string>
  /** Wraps an old hash in argon2id; absent when old hashes are kept as they are. */
  readonly wrap: ((hash: string) => Promise<string>) | undefined
}

interface Dependencies {
  readonly rows: RowTarget
  readonly report: Report
  readonly survey: Survey
  readonly names: ReadonlyMap<string, string>
  readonly passwords: PasswordHashing
}

/** The number of users that are hashed at once; there are fewer threads. */
const AT_ONCE = 16

/** Writes the accounts for the entries of `_principals`. */
export class PrincipalRows {
  readonly #deps: Dependencies
  #pending: Array<Promise<void>> = []

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** @param statements of the graph of the user's resource */
  async addUser({ entry, homeContextUri }: ReadEntry, statements: readonly Statement[]): Promise<void> {
    const { report, names } = this.#deps
    const user = readUserGraph(entry.id, names.get(entry.id), statements, report)
    report.count('users')
    const hasPassword = user.hash !== undefined || user.plainSecret !== undefined
    report.count(hasPassword ? 'users with a password' : 'users without a password')
    if (user.disabled) report.count('disabled users')
    const row = {
      id: entry.id,
      kind: 'user',
      name: names.get(entry.id) ?? null,
      disabled: user.disabled ? 1 : 0,
      language: user.language ?? null,
      home_context: this.#homeContext(entry.id, homeContextUri ?? user.homeContextUri) ?? null,
      custom_properties: JSON.stringify(user.customProperties),
    }
    this.#pending.push(
      this.#password(user.hash, user.plainSecret).then(password =>
        this.#deps.rows.add('principals', { ...row, password: password ?? null }),
      ),
    )
    if (this.#pending.length >= AT_ONCE) await this.finish()
  }

  /** @param statements of the graph of the group's resource */
  async addGroup({ entry, homeContextUri }: ReadEntry, statements: readonly Statement[]): Promise<void> {
    const { rows, report, survey, names } = this.#deps
    report.count('groups')
    await rows.add('principals', {
      id: entry.id,
      kind: 'group',
      name: names.get(entry.id) ?? null,
      home_context: this.#homeContext(entry.id, homeContextUri) ?? null,
    })
    const members = readMembers(principalUri(entry.id), statements, placeOf(entry), report)
    // All signed-in users are members of this group; its stored members have no meaning.
    if (entry.id === USERS) return report.derived(members.length)
    let position = 0
    for (const { context, id } of members) {
      const isUser = context === PRINCIPALS && survey.principals.get(id) === 'user' && id !== GUEST
      if (!isUser) {
        report.drop('missing-member', `${placeOf(entry)}: ${context}/entry/${id}`)
        continue
      }
      report.imported(1)
      report.count(entry.id === '_admins' ? 'members of the group admins' : 'memberships of groups')
      await rows.add('group_members', { group_id: entry.id, user_id: id, position: position++ })
    }
  }

  /** Waits for the unfinished hashes. */
  async finish(): Promise<void> {
    const pending = this.#pending
    this.#pending = []
    await Promise.all(pending)
  }

  async #password(hash: string | undefined, plainSecret: string | undefined): Promise<string | undefined> {
    const { passwords } = this.#deps
    if (plainSecret !== undefined) return await passwords.hash(plainSecret)
    return hash !== undefined && passwords.wrap ? await passwords.wrap(hash) : hash
  }

  #homeContext(id: string, uri: string | undefined): string | undefined {
    if (uri === undefined) return undefined
    const context = contextIdOf(uri)
    if (context !== undefined && this.#deps.survey.contexts.has(context)) return context
    this.#deps.report.note('home-context-missing', `${id}: ${uri}`)
    return undefined
  }
}
