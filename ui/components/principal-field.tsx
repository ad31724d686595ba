import { useEffect, useState } from 'preact/hooks'
import { type Among, suggest, type Suggestion } from '../lib/principals.ts'
import { useSession } from '../lib/session.ts'
import { Field } from './field.tsx'

interface PrincipalFieldProps {
  readonly label: string
  readonly value: string
  readonly onValue: (value: string) => void
  /** Whose names are suggested; users by default. */
  readonly among?: Among
  readonly required?: boolean
  readonly error?: string | undefined
  readonly hint?: string
}

const PAUSE = 200

/** A field for the name of a user or group that suggests names containing the typed text. */
export function PrincipalField({ among = 'users', ...field }: PrincipalFieldProps) {
  const [suggestions, setSuggestions] = useState<readonly Suggestion[]>([])
  const { me } = useSession()
  useEffect(() => {
    const controller = new AbortController()
    const timer = setTimeout(() => {
      suggest(field.value, { among, isAdmin: me.isAdmin }, controller.signal).then(setSuggestions, () => undefined)
    }, PAUSE)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [field.value])
  return <Field {...field} autocomplete="off" suggestions={suggestions} />
}
