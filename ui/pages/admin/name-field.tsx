import type { ComponentProps } from 'preact'
import { Field } from '../../components/field.tsx'

const MAX_CHARACTERS = 255

/** The name of a user, group or context that is going to be. */
export function NameField(props: Pick<ComponentProps<typeof Field>, 'label' | 'value' | 'onValue' | 'hint' | 'error'>) {
  return <Field {...props} required maxLength={MAX_CHARACTERS} autocomplete="off" />
}
