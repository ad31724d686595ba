import type { Graph } from './contexts.ts'

/** What somebody may do with a context: everything; make and change entries; read them. */
export const roles = ['owner', 'writer', 'reader'] as const
export type Role = (typeof roles)[number]

export interface Access {
  readonly role: Role
  /** Id of a user or group. */
  readonly principal: string
}

const STORE = 'http://entrystore.org/terms/'

interface Place {
  /** The base address, as the service writes it. */
  readonly base: string
  readonly context: string
}

/** Subject and predicate that say it in the info of a context. */
function slotOf(role: Role, { base, context }: Place): readonly [string, string] {
  if (role === 'owner') return [`${base}_contexts/entry/${context}`, `${STORE}write`]
  return [`${base}${context}`, role === 'writer' ? `${STORE}write` : `${STORE}read`]
}

const principalUri = ({ base }: Place, id: string): string => `${base}_principals/resource/${id}`

/** Who may do what, as the info of a context says. */
export function accessIn(info: Graph, place: Place): Access[] {
  const start = principalUri(place, '')
  return roles.flatMap(role => {
    const [subject, predicate] = slotOf(role, place)
    const named = (info[subject]?.[predicate] ?? []).filter(({ value }) => value.startsWith(start))
    return named.map(({ value }) => ({ role, principal: value.slice(start.length) }))
  })
}

/** The info with one statement of access less, or one more. */
export function changeAccess(info: Graph, place: Place, { role, principal }: Access, isGiven: boolean): Graph {
  const [subject, predicate] = slotOf(role, place)
  const value = principalUri(place, principal)
  const others = (info[subject]?.[predicate] ?? []).filter(term => term.value !== value)
  const terms = isGiven ? [...others, { type: 'uri', value }] : others
  const { [predicate]: _, ...rest } = info[subject] ?? {}
  return { ...info, [subject]: terms.length === 0 ? rest : { ...rest, [predicate]: terms } }
}
