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
function slotsOf(info: Graph, role: Role, { base, context, entry }: Place): readonly Slot[] {
  const predicate = role === 'reader' ? `${STORE}read` : `${STORE}write`
  if (entry === undefined) {
    return [[role === 'owner' ? `${base}_contexts/entry/${context}` : base + context, predicate]]
  }
  const inContext = `${base}${context}`
  const ofEntry = `${inContext}/entry/${entry}`
  if (role === 'owner') return [[ofEntry, predicate]]
  // The resource of a link has another address.
  const resource = info[ofEntry]?.[`${STORE}resource`]?.[0]?.value ?? `${inContext}/resource/${entry}`
  // A file and its metadata are shared together.
  return [
    [resource, predicate],
    [`${inContext}/metadata/${entry}`, predicate],
  ]
}

const principalUri = ({ base }: Place, id: string): string => `${base}_principals/resource/${id}`

/** Stand in the list of an entry for those who have access to the context, or to the folder above. They add them only where all roles name them. */
const OF_CONTEXT = '_context'
const OF_FOLDER = '_folder'

/** The users and groups that the info names, with their roles. */
export function accessIn(info: Graph, place: Place): Access[] {
  const start = principalUri(place, '')
  return roles.flatMap(role => {
    const named = slotsOf(info, role, place).flatMap(([subject, predicate]) => info[subject]?.[predicate] ?? [])
    const principals = named.flatMap(({ value }) => (value.startsWith(start) ? value.slice(start.length) : []))
    return [...new Set(principals)]
      .filter(id => id !== OF_CONTEXT && id !== OF_FOLDER)
      .map(principal => ({ role, principal }))
  })
}

const termsOf = (info: Graph, [subject, predicate]: Slot) => info[subject]?.[predicate] ?? []

/** Whether all roles name this one. */
function isAdded(info: Graph, place: Place, id: string): boolean {
  const uri = principalUri(place, id)
  return roles
    .flatMap(role => slotsOf(info, role, place))
    .every(slot => termsOf(info, slot).some(({ value }) => value === uri))
}

const hasList = (info: Graph, place: Place): boolean =>
  roles.some(role => slotsOf(info, role, place).some(slot => termsOf(info, slot).length > 0))

/** Whether the list of an entry decides alone, so that access to the context or to a folder does not count. */
export const isRestricted = (info: Graph, place: Place): boolean =>
  hasList(info, place) && !isAdded(info, place, OF_CONTEXT) && !isAdded(info, place, OF_FOLDER)

/** Whether an entry has nothing of what its folder gives, but what the context gives. */
export const passesFolder = (info: Graph, place: Place): boolean => isAdded(info, place, OF_CONTEXT)

const withName = (graph: Graph, [subject, predicate]: Slot, value: string, isGiven: boolean): Graph =>
  withTerms(graph, subject, predicate, terms => {
    const others = terms.filter(term => term.value !== value)
    return isGiven ? [...others, { type: 'uri', value }] : others
  })

/** Adds a role to the info, or removes it. */
export function changeAccess(info: Graph, place: Place, { role, principal }: Access, isGiven: boolean): Graph {
  const value = principalUri(place, principal)
  const changed = slotsOf(info, role, place).reduce((graph, slot) => withName(graph, slot, value, isGiven), info)
  if (place.entry !== undefined) return changed
  // A context and its title are shared together: its metadata have a list of their own.
  const keepsRole = accessIn(changed, place).some(access => access.principal === principal)
  return withName(changed, [`${place.base}_contexts/metadata/${place.context}`, `${STORE}read`], value, keepsRole)
}

const naming = (info: Graph, place: Place, id: string, isGiven: boolean): Graph =>
  roles.reduce((graph, role) => changeAccess(graph, place, { role, principal: id }, isGiven), info)

const follows = (info: Graph, place: Place, isGiven: boolean): Graph => naming(info, place, OF_FOLDER, isGiven)

/** An access list that is for everything in the folder too names the folder in one place at least. */
function forContent(info: Graph, place: Place): Graph {
  const [read] = slotsOf(info, 'reader', place)
  return read ? withName(info, read, principalUri(place, OF_FOLDER), true) : info
}

/**
 * The info of an entry with one more role. Those who have access from above keep it, unless the list decides alone.
 * @param isFolder the list is for everything in it
 */
export function withAccess(info: Graph, place: Place, access: Access, isFolder: boolean): Graph {
  const keepsAbove = isRestricted(info, place) || passesFolder(info, place)
  const marked = keepsAbove ? (isFolder ? forContent(info, place) : info) : follows(info, place, true)
  return changeAccess(marked, place, access, true)
}

/** The info of an entry without this role. Without any, access from above decides alone. */
export function withoutAccess(info: Graph, place: Place, access: Access): Graph {
  const rest = changeAccess(info, place, access, false)
  return isRestricted(rest, place) || accessIn(rest, place).length > 0 ? rest : follows(rest, place, false)
}

/**
 * The info of an entry that only those listed have access to. The user becomes an owner: an empty list would decide nothing.
 * @param isFolder the list is for everything in it
 */
export function restricted(info: Graph, place: Place, { me, isFolder }: { me: string; isFolder: boolean }): Graph {
  const alone = naming(follows(info, place, false), place, OF_CONTEXT, false)
  const owned = changeAccess(alone, place, { role: 'owner', principal: me }, true)
  return isFolder ? forContent(owned, place) : owned
}

/** The info of an entry that those with access to its folder, or else to the context, have access to as well. */
export const unrestricted = (info: Graph, place: Place): Graph =>
  follows(naming(info, place, OF_CONTEXT, false), place, true)
