import type { ComponentProps } from 'preact'
import { Field } from '../../components/field.tsx'

const MAX_CHARACTERS = 255

/** A field for the name of a new user, group or context. */
export function NameField(props: Pick<ComponentProps<typeof Field>, 'label' | 'value' | 'onValue' | 'hint' | 'error'>) {
  return <Field {...props} required maxLength={MAX_CHARACTERS} autocomplete="off" />
}
