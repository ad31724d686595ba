import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { onSignIn } from './api.ts'
import { type Item, type Listing, loadItems, type Window, WINDOW } from './files.ts'

/** A long list that fetches only the parts that are shown. */
export interface Items {
  /** Number of items; `undefined` before the first response. */
  readonly results: number | undefined
  readonly at: (index: number) => Item | undefined
  /** Fetches these rows if they are missing. */
  readonly need: (first: number, last: number) => void
  /** Fetches the shown rows again and keeps showing them meanwhile. */
  readonly reload: () => void
  readonly problem: unknown
}

interface State {
  readonly results: number | undefined
  readonly windows: ReadonlyMap<number, readonly Item[]>
  readonly problem: unknown
}

const nothing: State = { results: undefined, windows: new Map(), problem: undefined }

/**
 * @param confirmEmpty called before an empty list is shown; rejects if the list may be empty because the
 * session has ended
 */
export function useItems(listing: Listing, confirmEmpty: () => Promise<void>): Items {
  const key = JSON.stringify(listing)
  const [state, setState] = useState(nothing)
  const fetching = useRef(new Map<number, AbortController>())
  const stale = useRef(new Set<number>())
  const shown = useRef([0, 0])

  const fetchWindow = useCallback(
    (number: number) => {
      if (fetching.current.has(number)) return
      const controller = new AbortController()
      fetching.current.set(number, controller)
      stale.current.delete(number)
      const { signal } = controller
      const load = async (): Promise<Window> => {
        const found = await loadItems(listing, number * WINDOW, signal)
        if (found.results === 0) await confirmEmpty()
        return found
      }
      load()
        .then(
          ({ items, results }) =>
            signal.aborted ||
            setState(({ windows }) => ({
              results,
              windows: new Map([...windows, [number, items]]),
              problem: undefined,
            })),
          (problem: unknown) => signal.aborted || setState(before => ({ ...before, problem })),
        )
        .finally(() => fetching.current.get(number) === controller && fetching.current.delete(number))
    },
    [key],
  )

  // For another list, order or search, everything that was fetched before is dropped.
  useLayoutEffect(() => {
    setState(nothing)
    fetchWindow(0)
    return () => {
      for (const controller of fetching.current.values()) controller.abort()
      fetching.current.clear()
    }
  }, [key])

  const need = (first: number, last: number): void => {
    shown.current = [first, last]
    for (let number = Math.floor(first / WINDOW); number * WINDOW <= last; number++)
      if (!state.windows.has(number) || stale.current.has(number)) fetchWindow(number)
  }
  const reload = useCallback((): void => {
    for (const controller of fetching.current.values()) controller.abort()
    fetching.current.clear()
    setState(({ windows, ...rest }) => {
      for (const number of windows.keys()) stale.current.add(number)
      return { windows, ...rest }
    })
    const [first = 0, last = 0] = shown.current
    for (let number = Math.floor(first / WINDOW); number * WINDOW <= last; number++) fetchWindow(number)
  }, [key])
  useLayoutEffect(() => onSignIn(reload), [reload])
  const { results, windows, problem } = state
  return { results, at: index => windows.get(Math.floor(index / WINDOW))?.[index % WINDOW], need, reload, problem }
}

/** Runs `work` when the value changes, but not at first. */
export function useChange(value: unknown, work: () => void): void {
  const before = useRef(value)
  useEffect(() => {
    if (before.current !== value) work()
    before.current = value
  }, [value])
}
