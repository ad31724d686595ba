import { useEffect, useState } from 'preact/hooks'
import { suggest } from '../lib/principals.ts'
import { useSession } from '../lib/session.ts'
import { Field } from './field.tsx'

interface PrincipalFieldProps {
  readonly label: string
  readonly value: string
  readonly onValue: (value: string) => void
  readonly withGroups?: boolean
  readonly required?: boolean
  readonly error?: string | undefined
  readonly hint?: string
}

const PAUSE = 200

/** The name of a user, or also of a group, with those offered that hold what is typed. */
export function PrincipalField({ withGroups = false, ...field }: PrincipalFieldProps) {
  const [suggestions, setSuggestions] = useState<readonly string[]>([])
  const { me } = useSession()
  useEffect(() => {
    // Only administrators can list names.
    if (!me.isAdmin) return undefined
    const controller = new AbortController()
    const timer = setTimeout(() => {
      // Whoever types a name in full needs no suggestion.
      suggest(field.value, withGroups, controller.signal).then(setSuggestions, () => undefined)
    }, PAUSE)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [field.value])
  return <Field {...field} autocomplete="off" suggestions={suggestions} />
}
