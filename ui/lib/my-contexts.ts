import { FIRST_CONTEXTS } from '../preloads.ts'
import { ask } from './api.ts'
import type { ListedContext } from './contexts.ts'

/** Those that the user can write to, or those of others. */
export type MyAccess = 'write' | 'shared'

/** A part of the list. */
export interface MyContexts {
  readonly contexts: readonly ListedContext[]
  readonly results: number
}

/** A part of the contexts that the user has access to, by name. @throws {Problem} */
export function loadMyContexts(access: MyAccess, offset: number, signal?: AbortSignal): Promise<MyContexts> {
  const path = FIRST_CONTEXTS.replace('access=write', `access=${access}`).replace('offset=0', `offset=${offset}`)
  return ask<MyContexts>(path, signal ? { signal } : {})
}
