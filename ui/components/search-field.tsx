import { useLayoutEffect, useState } from 'preact/hooks'
import { Field } from './field.tsx'

interface SearchFieldProps {
  readonly label: string
  readonly value: string
  /** Called when the user pauses typing. */
  readonly onValue: (value: string) => void
}

const PAUSE = 250

export function SearchField({ label, value, onValue }: SearchFieldProps) {
  const [typed, setTyped] = useState(value)
  useLayoutEffect(() => setTyped(value), [value])
  useLayoutEffect(() => {
    if (typed === value) return undefined
    const timer = setTimeout(() => onValue(typed), PAUSE)
    return () => clearTimeout(timer)
  }, [typed])
  return <Field label={label} type="search" autocomplete="off" value={typed} onValue={setTyped} />
}
