import { type Graph, withTerms } from './graph.ts'

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

/** Stands in the list of an entry for those who have access to the context. It adds them only where all roles name it. */
const OF_CONTEXT = '_context'

/** The users and groups that the info names, with their roles. */
export function accessIn(info: Graph, place: Place): Access[] {
  const start = principalUri(place, '')
  return roles.flatMap(role => {
    const named = slotsOf(role, place).flatMap(([subject, predicate]) => info[subject]?.[predicate] ?? [])
    const principals = named.flatMap(({ value }) => (value.startsWith(start) ? value.slice(start.length) : []))
    return [...new Set(principals)].filter(id => id !== OF_CONTEXT).map(principal => ({ role, principal }))
  })
}

/** Whether the list of an entry decides alone, so that access to the context does not count. */
export function isRestricted(info: Graph, place: Place): boolean {
  const slots = roles.flatMap(role => slotsOf(role, place))
  const termsOf = ([subject, predicate]: Slot) => info[subject]?.[predicate] ?? []
  const ofContext = principalUri(place, OF_CONTEXT)
  const adds = slots.every(slot => termsOf(slot).some(({ value }) => value === ofContext))
  return !adds && slots.some(slot => termsOf(slot).length > 0)
}

const withName = (graph: Graph, [subject, predicate]: Slot, value: string, isGiven: boolean): Graph =>
  withTerms(graph, subject, predicate, terms => {
    const others = terms.filter(term => term.value !== value)
    return isGiven ? [...others, { type: 'uri', value }] : others
  })

/** Adds a role to the info, or removes it. */
export function changeAccess(info: Graph, place: Place, { role, principal }: Access, isGiven: boolean): Graph {
  const value = principalUri(place, principal)
  const changed = slotsOf(role, place).reduce((graph, slot) => withName(graph, slot, value, isGiven), info)
  if (place.entry !== undefined) return changed
  // A context and its title are shared together: its metadata have a list of their own.
  const keepsRole = accessIn(changed, place).some(access => access.principal === principal)
  return withName(changed, [`${place.base}_contexts/metadata/${place.context}`, `${STORE}read`], value, keepsRole)
}

const withContext = (info: Graph, place: Place, isGiven: boolean): Graph =>
  roles.reduce((graph, role) => changeAccess(graph, place, { role, principal: OF_CONTEXT }, isGiven), info)

/** The info of an entry with one more role. Those who have access to the context keep it, unless the list decides alone. */
export const withAccess = (info: Graph, place: Place, access: Access): Graph =>
  changeAccess(isRestricted(info, place) ? info : withContext(info, place, true), place, access, true)

/** The info of an entry without this role. Without any, access to the context decides alone. */
export function withoutAccess(info: Graph, place: Place, access: Access): Graph {
  const rest = changeAccess(info, place, access, false)
  return isRestricted(rest, place) || accessIn(rest, place).length > 0 ? rest : withContext(rest, place, false)
}

/** The info of an entry that only those listed have access to. The user becomes an owner: an empty list would decide nothing. */
export const restricted = (info: Graph, place: Place, me: string): Graph =>
  changeAccess(withContext(info, place, false), place, { role: 'owner', principal: me }, true)

/** The info of an entry that those with access to the context have access to as well. */
export const unrestricted = (info: Graph, place: Place): Graph => withContext(info, place, true)
