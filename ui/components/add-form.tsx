import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { tellProblem } from '../lib/format.ts'
import { t } from '../lib/language.ts'
import { Button } from './button.tsx'
import { Form } from './form.tsx'
import { tell } from './toast.tsx'

interface NameFieldProps {
  readonly value: string
  readonly onValue: (value: string) => void
  readonly required: true
  readonly error: string | undefined
}

interface AddFormProps {
  /** Adds what has this name, and resolves to what the person is told; to nothing when the form stays as it is. @throws {Problem} */
  readonly add: (name: string) => Promise<string | undefined>
  readonly field: (props: NameFieldProps) => ComponentChildren
  readonly action?: string
  /** Further fields of the line. */
  readonly children?: ComponentChildren
  /** Further fields below the line. */
  readonly below?: ComponentChildren
}

/** A form of one line that adds what its field names. A success empties the field. */
export function AddForm({ add, field, action = t('add'), children, below }: AddFormProps) {
  const [name, setName] = useState('')
  const submit = async (): Promise<void> => {
    const told = await add(name)
    if (told === undefined) return
    tell(told)
    setName('')
  }
  return (
    <Form work={submit}>
      {problem => (
        <>
          <div class="line">
            {field({
              value: name,
              onValue: setName,
              required: true,
              error: problem === undefined ? undefined : tellProblem(problem),
            })}
            {children}
            <Button type="submit">{action}</Button>
          </div>
          {below}
        </>
      )}
    </Form>
  )
}
