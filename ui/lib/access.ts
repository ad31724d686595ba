import type { Graph } from './graph.ts'

/** Roles from most to fewest rights: administer everything; create and change; read. */
export const roles = ['owner', 'writer', 'reader'] as const
export type Role = (typeof roles)[number]

export interface Access {
  readonly role: Role
  /** Id of a user or group. */
  readonly principal: string
}

const STORE = 'http://entrystore.org/terms/'

/** A shared place: a context, or one entry of it. */
export interface Place {
  /** The base address, in the form that the service uses in its responses. */
  readonly base: string
  readonly context: string
  readonly entry?: string | undefined
}

type Slot = readonly [subject: string, predicate: string]

/** Subjects and predicates that state a role in the info. A role counts as given if the first one is present. */
function slotsOf(role: Role, { base, context, entry }: Place): readonly Slot[] {
  const predicate = role === 'reader' ? `${STORE}read` : `${STORE}write`
  if (entry === undefined) {
    return [[role === 'owner' ? `${base}_contexts/entry/${context}` : base + context, predicate]]
  }
  const inContext = `${base}${context}`
  if (role === 'owner') return [[`${inContext}/entry/${entry}`, predicate]]
  // A file and its metadata are shared together.
  return [
    [`${inContext}/resource/${entry}`, predicate],
    [`${inContext}/metadata/${entry}`, predicate],
  ]
}

const principalUri = ({ base }: Place, id: string): string => `${base}_principals/resource/${id}`

/** All roles that the info gives. */
export function accessIn(info: Graph, place: Place): Access[] {
  const start = principalUri(place, '')
  return roles.flatMap(role => {
    const named = slotsOf(role, place).flatMap(([subject, predicate]) => info[subject]?.[predicate] ?? [])
    const principals = named.flatMap(({ value }) => (value.startsWith(start) ? value.slice(start.length) : []))
    return [...new Set(principals)].map(principal => ({ role, principal }))
  })
}

/** Adds a role to the info, or removes it. */
export const changeAccess = (info: Graph, place: Place, { role, principal }: Access, isGiven: boolean): Graph =>
  slotsOf(role, place).reduce((graph, [subject, predicate]) => {
    const value = principalUri(place, principal)
    const others = (graph[subject]?.[predicate] ?? []).filter(term => term.value !== value)
    const terms = isGiven ? [...others, { type: 'uri', value }] : others
    const { [predicate]: _, ...rest } = graph[subject] ?? {}
    return { ...graph, [subject]: terms.length === 0 ? rest : { ...rest, [predicate]: terms } }
  }, info)

/**
 * The info of an entry with a list of its own. The permissions of the context no longer apply to such an entry, so those who
 * have them are listed too, and the user who shares it becomes its owner: the list is never empty.
 */
export const withOwnAccess = (info: Graph, place: Place, ofContext: readonly Access[], me: string): Graph =>
  [...ofContext.filter(({ role }) => role !== 'owner'), { role: 'owner' as const, principal: me }].reduce(
    (graph, access) => changeAccess(graph, place, access, true),
    info,
  )

/** The info of an entry to which the permissions of its context apply again. */
export const withoutOwnAccess = (info: Graph, place: Place): Graph =>
  accessIn(info, place).reduce((graph, access) => changeAccess(graph, place, access, false), info)
