import { ask, Problem, type Tagged } from './api.ts'
import { part } from './base.ts'
import { titleIn } from './contexts.ts'
import { escape } from './files.ts'
import { type Graph, resourceIn, valuesOf } from './graph.ts'
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

/** The name of a user, group or context, which has no ETag of its own. @throws {Problem} */
export async function loadName(path: string): Promise<Tagged<{ readonly name?: string }>> {
  return { value: await ask<{ readonly name?: string }>(path), tag: undefined, total: undefined }
}

/** Full names with user names, or names of groups, by id; without those that are hidden from the user or no longer exist. @throws {Problem} */
export async function namesOf(ids: readonly string[], signal: AbortSignal): Promise<Map<string, string>> {
  const labels = await labelsOf(
    ids.map(id => `_principals/${id}`),
    signal,
  )
  return new Map([...labels].map(([place, label]) => [place.slice(place.indexOf('/') + 1), label]))
}

/** The names of the users and groups with access to an entry, for those who administer it. @throws {Problem} */
export async function accessNames(
  context: string,
  entry: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  return (await loadAccess(context, entry, signal)).names
}

/** A folder that gives access to an entry. */
export interface AccessFolder {
  readonly entryId: string
  readonly name?: string
  /** Ids of users and groups by place. */
  readonly acl: Readonly<Partial<Record<'admin' | 'rread' | 'rwrite', readonly string[]>>>
}

/** From where people have access to an entry, and their names. @throws {Problem} */
export async function loadAccess(context: string, entry: string, signal: AbortSignal) {
  const path = `${part(context)}/access/${part(entry)}`
  const { principals, folders, fromContext } = await ask<{
    readonly principals: readonly Named[]
    readonly folders: readonly AccessFolder[]
    readonly fromContext: boolean
  }>(path, { signal })
  const names = new Map(principals.map(({ id, name, fullName }) => [id, personLabel(fullName, name) ?? id]))
  return { names, folders, fromContext }
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
  readonly info: Graph
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
  return found.resource.children.flatMap(({ entryId, name, disabled, info, metadata }) =>
    name === undefined || disabled === true
      ? []
      : [
          {
            id: entryId,
            name,
            fullName: valuesOf(metadata, `${FOAF}name`)[0] ?? titleIn(resourceIn(info), metadata),
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
