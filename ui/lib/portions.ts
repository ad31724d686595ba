import { ask } from './api.ts'
import type { Quota } from './contexts.ts'

/** Rows per page. */
export const PAGE = 25

/** A response of `management/…` with a part of a list. */
type Portion<K extends string, T> = Readonly<Record<K, readonly T[]>> & { readonly results: number }

export interface User {
  readonly id: string
  readonly name?: string
  readonly disabled: boolean
  readonly hasPassword: boolean
  readonly homecontext?: string
  readonly lockedUntil?: string
  readonly fullName?: string
  readonly email?: string
  readonly lastSignIn?: string
  /** That of the home context. */
  readonly quota?: Quota
}

export interface Group {
  readonly id: string
  readonly name?: string
  readonly members: number
  readonly fullName?: string
}

interface Wanted {
  readonly query: string
  readonly offset?: number
  readonly limit?: number
  readonly sort?: string
}

/** @throws {Problem} */
export async function loadPortion<K extends string, T>(
  kind: K,
  { query, offset = 0, limit = PAGE, sort }: Wanted,
  signal: AbortSignal,
): Promise<{ readonly items: readonly T[]; readonly results: number }> {
  const parameters = new URLSearchParams({ query, offset: String(offset), limit: String(limit) })
  if (sort !== undefined) parameters.set('sort', sort)
  const found = await ask<Portion<K, T>>(`management/${kind}?${parameters.toString()}`, { signal })
  return { items: found[kind], results: found.results }
}
