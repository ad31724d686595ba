import { findGroup, findGroupByName } from '../../accounts/groups.ts'
import { systemNames } from '../../accounts/principals.ts'
import { findUser, findUserByName } from '../../accounts/users.ts'
import type { Queries } from '../../stores/database.ts'
import { aclSlots } from '../../model/acl.ts'
import { principalUri } from '../../model/addresses.ts'
import type { Entry } from '../../model/entry.ts'
import type { PrincipalLine } from './format.ts'

/** The id of the principal that an IRI in its inside form denotes; access lists may hold anything else as well. */
export const principalIn = (iri: string): string | undefined =>
  /^\.\/_principals\/resource\/([A-Za-z0-9_-]{1,128})$/.exec(iri)?.[1]

/** Stands in an access list for somebody who is not known here; never denotes anybody. */
export const unknownPrincipal = (name: string): string => `urn:stowage:unknown-principal:${encodeURIComponent(name)}`

/** Ids of all users and groups that an entry names. */
export function principalsIn({ creator, contributors, acl }: Entry): Set<string> {
  const named = aclSlots.flatMap(slot => acl[slot] ?? []).flatMap(iri => principalIn(iri) ?? [])
  return new Set([...(creator === undefined ? [] : [creator]), ...contributors, ...named])
}

/** Who the principals of an archive are in this store. */
export class Principals {
  readonly #known = new Map<string, string>()

  /**
   * Notes who a principal of the archive is here: of the same kind and name, or, without a name, of the same id. Somebody
   * else who happens to have the id is never meant.
   */
  async note(queries: Queries, { id, kind, name }: PrincipalLine): Promise<void> {
    const find = { user: [findUser, findUserByName], group: [findGroup, findGroupByName] } as const
    const [byId, byName] = find[kind]
    const found = name === undefined ? await byId(queries, id) : await byName(queries, name)
    if (found && found.name === name) this.#known.set(id, found.id)
  }

  get size(): number {
    return this.#known.size
  }

  /** The id here, `undefined` for who is unknown. */
  idOf(id: string): string | undefined {
    return Object.hasOwn(systemNames, id) ? id : this.#known.get(id)
  }

  /**
   * An IRI of an access list as it is right here. Who is unknown keeps his place, under an IRI that never denotes anybody: the
   * list must not become a wider one, and nobody who comes later may inherit his rights.
   */
  iriOf(iri: string): string {
    const id = principalIn(iri)
    if (id === undefined) return iri
    const here = this.idOf(id)
    return here === undefined ? unknownPrincipal(id) : principalUri(here)
  }
}
