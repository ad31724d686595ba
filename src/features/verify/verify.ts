import { broken, CannotCheck, type Outcome, unchecked } from './outcome.ts'
import type { Promised } from './promise.ts'
import type { Site } from './site.ts'

export interface Verified {
  readonly promised: Promised
  readonly outcome: Outcome
}

/**
 * Checks promises, and removes everything that the checks created, even when `signal` aborts the run.
 * @param onEach called for each promise, in the order of the list
 * @returns names of objects that could not be removed
 */
export async function verify(
  site: Site,
  promises: readonly Promised[],
  { signal, onEach }: { readonly signal?: AbortSignal; readonly onEach: (verified: Verified) => void },
): Promise<readonly string[]> {
  const beside = new Map(promises.filter(({ runs }) => runs === 'beside').map(one => [one.id, outcomeOf(one, site)]))
  const isLast = ({ runs }: Promised): boolean => runs === 'last'
  for (const promised of [...promises.filter(one => !isLast(one)), ...promises.filter(isLast)]) {
    if (signal?.aborted) break
    onEach({ promised, outcome: await (beside.get(promised.id) ?? outcomeOf(promised, site)) })
  }
  return await site.workshop.clear()
}

async function outcomeOf({ check }: Promised, site: Site): Promise<Outcome> {
  try {
    return await check(site)
  } catch (error) {
    if (error instanceof CannotCheck) return unchecked(error.message)
    return broken(`no answer: ${reasonOf(error)}`, 'Read the logs of the proxy and of the service.')
  }
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error
  return cause instanceof Error ? cause.message : message
}
