import { Field } from '../../components/field.tsx'
import { contextTitle, type ListedContext, loadContext } from '../../lib/contexts.ts'
import { useLoaded } from '../../lib/load.ts'
import { loadPortion } from '../../lib/portions.ts'

interface ContextFieldProps {
  readonly label: string
  readonly value: string
  readonly onValue: (value: string) => void
  readonly required?: boolean
  readonly error?: string | undefined
}

const MAX_SUGGESTIONS = 8

const search = (query: string, signal: AbortSignal) =>
  loadPortion<'contexts', ListedContext>('contexts', { query, limit: MAX_SUGGESTIONS }, signal)

/** A field for the name of a context that suggests names containing the typed text. */
export function ContextField(field: ContextFieldProps) {
  const [found] = useLoaded(signal => search(field.value, signal), [field.value])
  const items = found.state === 'ready' ? found.value.items : []
  const suggestions = items.map(context => [context.name ?? context.contextId, contextTitle(context)] as const)
  return <Field {...field} autocomplete="off" suggestions={suggestions} />
}

/** The id of the context with this name, title or id. @throws {Problem} `not-found` */
export async function findContext(typed: string): Promise<string> {
  const text = typed.trim()
  const { items } = await search(text, new AbortController().signal)
  const named = items.find(({ name }) => name === text) ?? items.find(context => contextTitle(context) === text)
  return named?.contextId ?? (await loadContext(text)).contextId
}
