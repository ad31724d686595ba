import { findGroup, findGroupByName } from '../../accounts/groups.ts'
import { findUser, findUserByName, OF_CONTEXT, OF_FOLDER, systemNames } from '../../accounts/users.ts'
import type { Queries } from '../../stores/database.ts'
import { aclSlots, type EntryHead } from '../../model/entry.ts'
import { principalIn, principalUri } from '../../model/addresses.ts'
import type { PrincipalLine } from './format.ts'

/** Replaces an unknown principal in an access list; never denotes a user or group. */
export const unknownPrincipal = (name: string): string => `urn:stowage:unknown-principal:${encodeURIComponent(name)}`

/** Ids of all users and groups that an entry refers to. */
export function principalsIn({ creator, contributors, acl }: EntryHead): Set<string> {
  const named = aclSlots.flatMap(slot => acl[slot] ?? []).flatMap(iri => principalIn(iri) ?? [])
  return new Set([...(creator === undefined ? [] : [creator]), ...contributors, ...named])
}

/** Maps the principals of an archive to those of this store. */
export class Principals {
  readonly #known = new Map<string, string>()
  readonly #isSameStore: boolean

  /**
   * @param options.isSameStore the archive is from this store at another time: a user or group is found by id only, because a later user
   * may have the name of a deleted one
   */
  constructor({ isSameStore = false }: { readonly isSameStore?: boolean | undefined } = {}) {
    this.#isSameStore = isSameStore
  }

  /**
   * Records the local principal for a principal of the archive: the one with the same kind and name or, if it has no name,
   * the same id. A different user or group that happens to have the same id is never used.
   */
  async note(queries: Queries, { id, kind, name }: PrincipalLine): Promise<void> {
    const find = { user: [findUser, findUserByName], group: [findGroup, findGroupByName] } as const
    const [byId, byName] = find[kind]
    const found = name === undefined || this.#isSameStore ? await byId(queries, id) : await byName(queries, name)
    if (found && found.name === name) this.#known.set(id, found.id)
  }

  /** The local id; `undefined` for an unknown principal. */
  idOf(id: string): string | undefined {
    return Object.hasOwn(systemNames, id) ? id : this.#known.get(id)
  }

  /**
   * Translates an IRI of an access list into its local form. An unknown principal is replaced by an IRI that never denotes a
   * user or group: removing it could make the list less restrictive, and no later user may inherit these rights.
   */
  iriOf(iri: string): string {
    const id = principalIn(iri)
    if (id === undefined || id === OF_CONTEXT || id === OF_FOLDER) return iri
    const here = this.idOf(id)
    return here === undefined ? unknownPrincipal(id) : principalUri(here)
  }
}
