import type { Caller } from '../accounts/caller.ts'
import { findGroup, membersOf } from '../accounts/groups.ts'
import { findUser, GUEST, USERS } from '../accounts/users.ts'
import { InvalidInput } from '../base/errors.ts'
import { type EntryKey, principalIn, resourceUri } from '../model/addresses.ts'
import {
  type Acl,
  adds,
  addsToContext,
  decidesAlone,
  type EntryHead,
  followsFolder,
  isOwnAcl,
  isPrincipal,
} from '../model/entry.ts'
import { type AccessTarget, may, requireRight } from '../model/rights.ts'
import type { Database } from '../stores/database.ts'
import { foldersInside } from './access-scopes.ts'
import type { EntryLoader } from './entry-loader.ts'
import { displayName } from './file-description.ts'
import { personalDataOf } from './provisioning.ts'
import { inheritedAcl, placeFor, requireList } from './creation-place.ts'

/** A user or group as people call it. */
export interface NamedPrincipal {
  readonly id: string
  readonly name: string | undefined
  readonly fullName: string | undefined
}

/** A folder that gives access to an entry. */
export interface NamedFolder {
  readonly entryId: string
  /** Absent for a folder whose metadata the caller may not read. */
  readonly name: string | undefined
  /** Ids of the users and groups that it gives access, by the place in its access list. */
  readonly acl: Acl
}

/** Who has access to an entry, and from where. */
export interface AccessList {
  /** Everybody in the access lists that count. */
  readonly principals: readonly NamedPrincipal[]
  /** The nearest first, as far as their lists count for the entry. */
  readonly folders: readonly NamedFolder[]
  /** Whether access to the context counts. */
  readonly fromContext: boolean
}

/** People who get or lose the right to read. */
export interface People {
  /** Number of users, those in groups included. */
  readonly users: number
  /** Everybody, or everybody who has signed in, is among them. */
  readonly isEverybody: boolean
}

export interface AccessChange {
  readonly losing: People
  readonly gaining: People
}

/** A move that has not been made. */
interface PreviewedMove {
  /** Ids, in one context. */
  readonly entries: readonly string[]
  /** Id of a list; `undefined` for a move out of all lists. */
  readonly list: string | undefined
  /** Id or name of the context that the entries move to; `undefined` for their own. */
  readonly to: string | undefined
}

interface Destination {
  /** The folders above the entries there, the nearest first. */
  readonly above: EntryHead['folders']
  /** An entry with the access list that it has there. */
  readonly arrived: (target: AccessTarget) => AccessTarget
}

/** Entries of one preview. */
export const MAX_PREVIEWED = 100

/** Reads who has access to entries, for callers who administer them, even if the names of others are hidden (D18.20). */
export class AccessReads {
  readonly #database: Database
  readonly #loader: EntryLoader

  constructor({ database, loader }: { readonly database: Database; readonly loader: EntryLoader }) {
    this.#database = database
    this.#loader = loader
  }

  /** @throws {Unauthenticated | Forbidden} for callers who do not administer the entry */
  async list(caller: Caller, key: EntryKey): Promise<AccessList> {
    const target = await this.#loader.get(key)
    requireRight(caller, 'administer', target, 'read who has access to this entry')
    const { entry, contextEntry } = target
    const { folders, fromContext } = counting(entry, entry.folders)
    const uris = [entry.acl, contextEntry.acl, ...folders.map(({ acl }) => acl)].flatMap(acl =>
      Object.values(acl).flat(),
    )
    const principals: NamedPrincipal[] = []
    for (const id of new Set(uris.flatMap(uri => principalIn(uri) ?? []))) {
      const { name } = (await findUser(this.#database, id)) ?? (await findGroup(this.#database, id)) ?? {}
      const fullName = (await personalDataOf(this.#database, id)).name
      if (name !== undefined || fullName !== undefined) principals.push({ id, name, fullName })
    }
    const named: NamedFolder[] = []
    for (const { id, acl } of folders) {
      const folder = await this.#loader.get({ context: entry.context, entry: id })
      const name = may(caller, 'readmetadata', folder) ? displayName(folder.entry) : undefined
      named.push({ entryId: id, name, acl: idsIn(acl) })
    }
    return { principals, folders: named, fromContext }
  }

  /**
   * How many people could no longer read some entries of a context, or could read them, after a move.
   * @throws {Unauthenticated | Forbidden} for callers who do not administer all of them, or may not move them there
   */
  async afterMove(caller: Caller, contextKey: string, { entries, ...where }: PreviewedMove): Promise<AccessChange> {
    if (entries.length > MAX_PREVIEWED)
      throw new InvalidInput('invalid-query', `Name at most ${MAX_PREVIEWED} entries, not ${entries.length}.`)
    const { arrived, above } = await this.#destination(caller, contextKey, where)
    const [losing, gaining] = [new Set<string>(), new Set<string>()]
    for (const id of new Set(entries)) {
      const target = await this.#loader.get({ context: contextKey, entry: id })
      requireRight(caller, 'administer', target, `read who has access to the entry "${id}"`)
      const [before, after] = [readersOf(target, target.entry.folders), readersOf(arrived(target), above)]
      if (!isForAll(after)) for (const one of before) if (!after.has(one)) losing.add(one)
      if (!isForAll(before)) for (const one of after) if (!before.has(one)) gaining.add(one)
    }
    return { losing: await this.#people(losing), gaining: await this.#people(gaining) }
  }

  /** What decides about the access to an entry after it has moved ({@link ListMoves}). */
  async #destination(
    caller: Caller,
    from: string,
    { list, to = from }: Omit<PreviewedMove, 'entries'>,
  ): Promise<Destination> {
    const { context } = await this.#loader.getContext(to)
    if (context.id !== (await this.#loader.getContext(from)).context.id) {
      const listUri = list === undefined ? undefined : resourceUri({ context: context.id, id: list })
      const place = await placeFor(this.#database, caller, context.id, listUri)
      return {
        above: list === undefined ? [] : foldersInside(requireList(place.list)),
        arrived: ({ entry }) => ({
          entry: decidesAlone(entry.acl) ? entry : { ...entry, acl: inheritedAcl(caller, entry.acl, place) },
          contextEntry: place.contextEntry,
        }),
      }
    }
    if (list === undefined) return { above: [], arrived: target => target }
    const target = await this.#loader.get({ context: from, entry: list })
    requireRight(caller, 'writeresource', target, 'add to this list')
    return { above: foldersInside(requireList(target.entry)), arrived: target => target }
  }

  async #people(ids: ReadonlySet<string>): Promise<People> {
    const users = new Set<string>()
    for (const id of ids) {
      const isUser = (await findUser(this.#database, id)) !== undefined
      for (const user of isUser ? [id] : await membersOf(this.#database, id)) users.add(user)
    }
    return { users: users.size, isEverybody: isForAll(ids) }
  }
}

const isForAll = (ids: ReadonlySet<string>): boolean => ids.has(GUEST) || ids.has(USERS)

/** The folders whose access lists count for an entry, and whether the access list of the context counts. */
function counting(
  { acl }: Pick<EntryHead, 'acl'>,
  above: EntryHead['folders'],
): { readonly folders: EntryHead['folders']; readonly fromContext: boolean } {
  if (!followsFolder(acl)) return { folders: [], fromContext: addsToContext(acl) }
  const last = above.findIndex(folder => !followsFolder(folder.acl))
  const folders = last < 0 ? above : above.slice(0, last + 1)
  const { acl: lastAcl } = folders.at(-1) ?? { acl }
  return { folders, fromContext: !isOwnAcl(lastAcl) || adds(lastAcl) }
}

/** Ids of the users and groups who may read the resource of an entry. Owners of the context always may. */
function readersOf({ entry, contextEntry }: AccessTarget, above: EntryHead['folders']): Set<string> {
  const { folders, fromContext } = counting(entry, above)
  const lists = [entry.acl, ...folders.map(({ acl }) => acl), ...(fromContext ? [contextEntry.acl] : [])]
  const { admin = [] } = contextEntry.acl
  const uris = [
    ...admin,
    ...lists.flatMap(({ admin = [], rread = [], rwrite = [] }) => [...admin, ...rread, ...rwrite]),
  ]
  return new Set(uris.filter(isPrincipal).flatMap(uri => principalIn(uri) ?? []))
}

const idsIn = (acl: Acl): Acl =>
  Object.fromEntries(
    Object.entries(acl).map(([slot, uris]) => [
      slot,
      (uris ?? []).filter(isPrincipal).flatMap(uri => principalIn(uri) ?? []),
    ]),
  )
