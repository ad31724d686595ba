import { useState } from 'preact/hooks'
import { t } from '../lib/language.ts'
import { type AddedFactor, addPasskey } from '../lib/passkeys.ts'
import { Button } from './button.tsx'
import { Dialog, DialogButtons } from './dialog.tsx'
import { Field } from './field.tsx'
import { Form, FormError } from './form.tsx'

interface AddPasskeyProps {
  readonly onAdded: (added: AddedFactor) => void
  readonly onClose: () => void
}

/** Asks for the name of a new passkey, then lets the browser create it. */
export function AddPasskeyDialog({ onAdded, onClose }: AddPasskeyProps) {
  const [name, setName] = useState('')
  const add = async (): Promise<void> => onAdded(await addPasskey(name))
  return (
    <Dialog title={t('addPasskey')} onClose={onClose}>
      <p>{t('passkeyText')}</p>
      <Form work={add}>
        {problem => (
          <>
            <Field label={t('name')} required maxLength={100} autocomplete="off" value={name} onValue={setName} />
            <FormError problem={problem} />
            <DialogButtons onClose={onClose}>
              <Button type="submit">{t('addPasskey')}</Button>
            </DialogButtons>
          </>
        )}
      </Form>
    </Dialog>
  )
}
