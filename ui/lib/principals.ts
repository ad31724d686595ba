import { ask, Problem, type Tagged } from './api.ts'
import { part } from './base.ts'
import { labelsOf } from './labels.ts'
import { type Group, loadPortion, type User } from './portions.ts'

/** The id of the user or group with this name. @throws {Problem} `unknown-principal` */
export async function findPrincipal(name: string): Promise<string> {
  const path = `auth/principals?${new URLSearchParams({ name }).toString()}`
  return await ask<{ readonly id: string }>(path).then(
    ({ id }) => id,
    (error: unknown) => {
      throw error instanceof Problem && error.status === 404 ? new Problem(404, { code: 'unknown-principal' }) : error
    },
  )
}

/** The name of a user or group; its id if it has no name or no longer exists. @throws {Problem} */
export async function nameOf(id: string, signal: AbortSignal): Promise<string> {
  try {
    return (await ask<{ readonly name: string }>(`_principals/entry/${part(id)}/name`, { signal })).name
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return id
    throw error
  }
}

/** The name of a user, group or context, which has no ETag of its own. @throws {Problem} */
export async function loadName(path: string): Promise<Tagged<{ readonly name?: string }>> {
  return { value: await ask<{ readonly name?: string }>(path), tag: undefined, total: undefined }
}

/** Full names with user names, or names of groups, by id. @throws {Problem} */
export async function namesOf(ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const place = (id: string): string => `_principals/${id}`
  const labels = await labelsOf(ids.map(place), signal)
  // The search leaves out principals whose metadata the user may not read.
  const nameTheOther = async (id: string) => [id, labels.get(place(id)) ?? (await nameOf(id, signal))] as const
  return new Map(await Promise.all([...new Set(ids)].map(nameTheOther)))
}

const MAX_SUGGESTIONS = 8

/** Names that contain the typed text. @throws {Problem} */
export async function suggest(
  query: string,
  among: 'users' | 'groups' | 'all',
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (query === '') return []
  const wanted = { query, limit: MAX_SUGGESTIONS }
  const found = await Promise.all([
    ...(among === 'groups' ? [] : [loadPortion<'users', User>('users', wanted, signal)]),
    ...(among === 'users' ? [] : [loadPortion<'groups', Group>('groups', wanted, signal)]),
  ])
  return found.flatMap(({ items }) => items.flatMap(({ name }) => name ?? []))
}
