import { ask, Problem, type Tagged } from './api.ts'
import { part } from './base.ts'
import { titleIn } from './contexts.ts'
import { escape } from './files.ts'
import { type Graph, valuesOf } from './graph.ts'
import { labelsOf, personLabel } from './labels.ts'
import { type Group, loadPortion } from './portions.ts'

/**
 * The id of the user or group with this name, or of the only user with this full name or e-mail address.
 * @throws {Problem} `unknown-principal`
 */
export async function findPrincipal(name: string): Promise<string> {
  const path = `auth/principals?${new URLSearchParams({ name }).toString()}`
  try {
    return (await ask<{ readonly id: string }>(path)).id
  } catch (error) {
    if (!(error instanceof Problem && error.status === 404)) throw error
    const typed = name.trim().toLocaleLowerCase()
    const known = (await findPeople(name, 'users', new AbortController().signal)).filter(person =>
      [person.fullName, person.email].some(text => text?.toLocaleLowerCase() === typed),
    )
    if (known.length === 1 && known[0]) return known[0].id
    throw new Problem(404, { code: 'unknown-principal' })
  }
}

/** The name of a user or group; its id if it has no name or no longer exists; `undefined` if it is hidden. @throws {Problem} */
async function nameOf(id: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    return (await ask<{ readonly name: string }>(`_principals/entry/${part(id)}/name`, { signal })).name
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return id
    if (error instanceof Problem && error.status === 403) return undefined
    throw error
  }
}

/** The name of a user, group or context, which has no ETag of its own. @throws {Problem} */
export async function loadName(path: string): Promise<Tagged<{ readonly name?: string }>> {
  return { value: await ask<{ readonly name?: string }>(path), tag: undefined, total: undefined }
}

/** Full names with user names, or names of groups, by id; without those that are hidden from the user. @throws {Problem} */
export async function namesOf(ids: readonly string[], signal: AbortSignal): Promise<Map<string, string>> {
  const place = (id: string): string => `_principals/${id}`
  const labels = await labelsOf(ids.map(place), signal)
  // The search leaves out principals whose metadata the user may not read.
  const find = async (id: string) => [id, labels.get(place(id)) ?? (await nameOf(id, signal))] as const
  const found = await Promise.all([...new Set(ids)].map(find))
  return new Map(found.flatMap(([id, name]) => (name === undefined ? [] : [[id, name] as const])))
}

/** The names of the users and groups with access to an entry, for those who administer it. @throws {Problem} */
export async function accessNames(
  context: string,
  entry: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const path = `${part(context)}/access/${part(entry)}`
  const { principals } = await ask<{ readonly principals: readonly Named[] }>(path, { signal })
  return new Map(principals.map(({ id, name, fullName }) => [id, personLabel(fullName, name) ?? id]))
}

interface Named {
  readonly id: string
  readonly name?: string
  readonly fullName?: string
}

const MAX_SUGGESTIONS = 8
const FOAF = 'http://xmlns.com/foaf/0.1/'

/** A user or group that the person may know of: whose access list lets them read its metadata. */
export interface Person {
  readonly id: string
  readonly name: string
  readonly fullName: string | undefined
  readonly email: string | undefined
}

interface Hit {
  readonly entryId: string
  readonly name?: string
  readonly disabled?: boolean
  readonly metadata?: Graph
}

const kinds = {
  users: 'graphType:User',
  groups: 'graphType:Group',
  all: '(graphType:User OR graphType:Group)',
} as const
/** Whose names are wanted. */
export type Among = keyof typeof kinds

/** Users or groups whose name, full name or address contains the typed text. @throws {Problem} */
export async function findPeople(typed: string, among: Among, signal: AbortSignal): Promise<readonly Person[]> {
  const text = escape(typed.trim().toLocaleLowerCase())
  if (text === '') return []
  const query = `${kinds[among]} AND (username:*${text}* OR title:*${text}* OR email:*${text}*)`
  const parameters = new URLSearchParams({ type: 'solr', query, limit: String(MAX_SUGGESTIONS) })
  const found = await ask<{ readonly resource: { readonly children: readonly Hit[] } }>(
    `search?${parameters.toString()}`,
    { signal },
  )
  return found.resource.children.flatMap(({ entryId, name, disabled, metadata }) =>
    name === undefined || disabled === true
      ? []
      : [
          {
            id: entryId,
            name,
            fullName: valuesOf(metadata, `${FOAF}name`)[0] ?? titleIn(metadata),
            email: valuesOf(metadata, `${FOAF}mbox`)[0]?.replace(/^mailto:/, ''),
          },
        ],
  )
}

/** What to offer for a typed text: a name, and what else people know somebody by. */
export type Suggestion = readonly [name: string, label: string]

/** @param isAdmin administrators also find groups without metadata @throws {Problem} */
export async function suggest(
  query: string,
  { among, isAdmin }: { readonly among: Among; readonly isAdmin: boolean },
  signal: AbortSignal,
): Promise<readonly Suggestion[]> {
  if (query.trim() === '') return []
  const wanted = { query, limit: MAX_SUGGESTIONS }
  const [people, groups] = await Promise.all([
    findPeople(query, among, signal),
    among !== 'users' && isAdmin ? loadPortion<'groups', Group>('groups', wanted, signal) : undefined,
  ])
  const found = new Map(
    people.map(({ name, fullName, email }): Suggestion => {
      const others = [fullName, email].filter(text => text !== undefined && text !== name)
      return [name, others.join(' · ')]
    }),
  )
  for (const { name } of groups?.items ?? []) if (name !== undefined && !found.has(name)) found.set(name, '')
  return [...found]
}
