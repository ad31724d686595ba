import { createContext } from 'preact'
import { useCallback, useContext, useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { onSignIn, Problem } from './api.ts'

export type Loaded<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly error: unknown }
  | { readonly state: 'ready'; readonly value: T }

/** Learns of each part that begins to load; `begin` returns what ends it (`components/together.tsx`). */
export const LoadingContext = createContext<{ readonly begin: () => () => void } | undefined>(undefined)

/**
 * Returns the result of `load` and a way to fetch it again. Fetches when the page is shown, when `inputs`
 * change, after a new sign-in and, if the service could not be reached, when the network is back.
 */
export function useLoaded<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
): readonly [Loaded<T>, () => void] {
  const [loaded, setLoaded] = useState<Loaded<T>>({ state: 'loading' })
  const [round, setRound] = useState(0)
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    load(signal).then(
      value => signal.aborted || setLoaded({ state: 'ready', value }),
      (error: unknown) => signal.aborted || setLoaded({ state: 'failed', error }),
    )
    return () => controller.abort()
  }, [...inputs, round])
  const loading = useContext(LoadingContext)
  const isLoading = loaded.state === 'loading'
  useLayoutEffect(() => (isLoading ? loading?.begin() : undefined), [isLoading])
  useEffect(() => onSignIn(() => setRound(round => round + 1)), [])
  const isUnreachable = loaded.state === 'failed' && loaded.error instanceof Problem && loaded.error.status === 0
  useEffect(() => {
    if (!isUnreachable) return undefined
    const retry = (): void => setRound(round => round + 1)
    addEventListener('online', retry)
    return () => removeEventListener('online', retry)
  }, [isUnreachable])
  const again = useCallback(() => setRound(round => round + 1), [])
  return [loaded, again]
}
