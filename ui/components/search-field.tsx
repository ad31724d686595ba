import { useLayoutEffect, useState } from 'preact/hooks'
import { Field } from './field.tsx'

interface SearchFieldProps {
  readonly label: string
  readonly value: string
  /** Called when the user pauses typing. */
  readonly onValue: (value: string) => void
  /** Whether the label is in the field, where there is no room for it above. */
  readonly hasPlaceholder?: boolean
}

const PAUSE = 250

export function SearchField({ label, value, onValue, hasPlaceholder = false }: SearchFieldProps) {
  const [typed, setTyped] = useState(value)
  useLayoutEffect(() => setTyped(value), [value])
  useLayoutEffect(() => {
    if (typed === value) return undefined
    const timer = setTimeout(() => onValue(typed), PAUSE)
    return () => clearTimeout(timer)
  }, [typed])
  return (
    <Field
      label={label}
      type="search"
      autocomplete="off"
      value={typed}
      onValue={setTyped}
      {...(hasPlaceholder ? { placeholder: label } : {})}
    />
  )
}
