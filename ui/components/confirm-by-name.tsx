import { useState } from 'preact/hooks'
import { tellProblem } from '../lib/format.ts'
import { t } from '../lib/language.ts'
import { visible } from '../lib/text.ts'
import { Button } from './button.tsx'
import { Dialog, DialogButtons } from './dialog.tsx'
import { Field } from './field.tsx'
import { Form } from './form.tsx'

interface ConfirmByNameProps {
  readonly title: string
  /** Names what will be deleted as well. */
  readonly text: string
  /** What is left without an owner, for instance. */
  readonly lost?: { readonly text: string; readonly names: readonly string[] } | undefined
  readonly name: string
  readonly onConfirm: () => Promise<void>
  readonly onClose: () => void
}

/** Asks the user to type the name before something large is deleted, so that one wrong click is not enough. */
export function ConfirmByName({ title, text, lost, name, onConfirm, onClose }: ConfirmByNameProps) {
  const [typed, setTyped] = useState('')
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      {lost && (
        <div class="notice warn">
          <p>{lost.text}</p>
          <ul>
            {lost.names.map(one => (
              <li key={one}>{visible(one)}</li>
            ))}
          </ul>
        </div>
      )}
      <Form work={onConfirm}>
        {problem => (
          <>
            <Field
              label={t('typeName', { name: visible(name) })}
              value={typed}
              onValue={setTyped}
              autocomplete="off"
              required
              error={problem === undefined ? undefined : tellProblem(problem)}
            />
            <DialogButtons onClose={onClose}>
              <Button kind="danger" type="submit" disabled={typed !== name}>
                {title}
              </Button>
            </DialogButtons>
          </>
        )}
      </Form>
    </Dialog>
  )
}
