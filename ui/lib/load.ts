import { useCallback, useEffect, useState } from 'preact/hooks'

export type Loaded<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly error: unknown }
  | { readonly state: 'ready'; readonly value: T }

/** What `load` gives, fetched when a page comes and whenever `inputs` change; with a way to fetch it again. */
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
  const again = useCallback(() => setRound(round => round + 1), [])
  return [loaded, again]
}
