import { useCallback, useLayoutEffect, useState } from 'preact/hooks'
import { onNavigate, setQuery } from './router.tsx'

type Values<K extends string> = Readonly<Record<K, string>>

/**
 * Values in the query of the address, so that reloading, going back and links restore them. @param usual
 * default values, which are left out of the address; with `isStep` going back undoes a change
 */
export function useQuery<K extends string>(
  usual: Values<K>,
): readonly [Values<K>, (change: Partial<Values<K>>, isStep?: boolean) => void] {
  const [values, setValues] = useState(() => read(usual))
  useLayoutEffect(() => onNavigate(() => setValues(read(usual))), [])
  const change = useCallback((part: Partial<Values<K>>, isStep = false): void => {
    const next = { ...read(usual), ...part }
    // Another part of the page may keep values of its own in the address.
    const query = new URLSearchParams(location.search)
    for (const key of keysOf(usual)) query.delete(key)
    for (const key of keysOf(usual)) if (next[key] !== usual[key]) query.set(key, next[key])
    setQuery(query.toString(), isStep)
    setValues(next)
  }, [])
  return [values, change]
}

const keysOf = <K extends string>(values: Values<K>): K[] => Object.keys(values) as K[]

function read<K extends string>(usual: Values<K>): Values<K> {
  const given = new URLSearchParams(location.search)
  return { ...usual, ...Object.fromEntries(keysOf(usual).map(key => [key, given.get(key) ?? usual[key]])) }
}

/** Parses a whole number from the address. */
export const wholeNumber = (text: string): number => (/^\d{1,9}$/.test(text) ? Number(text) : 0)
