import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Dialog, DialogButtons } from '../../components/dialog.tsx'
import { Area, Field } from '../../components/field.tsx'
import { Form, FormError } from '../../components/form.tsx'
import { tell } from '../../components/toast.tsx'
import { Problem } from '../../lib/api.ts'
import { MAX_NAME } from '../../lib/files.ts'
import { tellProblem } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { createLink, createText, readWebAddress } from '../../lib/links-and-texts.ts'
import { visible } from '../../lib/text.ts'
import type { Target } from '../../lib/uploads.ts'

interface NewProps {
  readonly target: Target
  readonly onClose: () => void
  readonly onCreated: () => void
}

/** Creates a link to a page elsewhere. */
export function NewLink({ target, onClose, onCreated }: NewProps) {
  const [typed, setTyped] = useState('')
  const [name, setName] = useState('')
  const create = async (): Promise<void> => {
    const address = readWebAddress(typed)
    await createLink(target, address, name.trim())
    tell(t('webLinkCreated', { name: visible(name.trim() || address) }))
    onClose()
    onCreated()
  }
  return (
    <Dialog title={t('newLink')} onClose={onClose}>
      <Form work={create}>
        {problem => (
          <>
            <AddressField value={typed} onValue={setTyped} problem={problem} />
            <NameField value={name} onValue={setName} hint={t('linkNameHint')} />
            <FormError problem={isAboutAddress(problem) ? undefined : problem} />
            <DialogButtons onClose={onClose}>
              <Button type="submit">{t('createWebLink')}</Button>
            </DialogButtons>
          </>
        )}
      </Form>
    </Dialog>
  )
}

/** Whether an error belongs to {@link AddressField}. */
export const isAboutAddress = (problem: unknown): boolean =>
  problem instanceof Problem && problem.code === 'invalid-iri'

interface AddressFieldProps {
  readonly value: string
  readonly onValue: (address: string) => void
  readonly problem: unknown
}

/** Where a link leads. */
export const AddressField = ({ value, onValue, problem }: AddressFieldProps) => (
  <Field
    label={t('linkAddress')}
    value={value}
    onValue={onValue}
    hint={t('linkAddressHint')}
    error={isAboutAddress(problem) ? tellProblem(problem) : undefined}
    required
    autocomplete="off"
  />
)

interface NameFieldProps {
  readonly value: string
  readonly onValue: (name: string) => void
  readonly hint?: string
  readonly required?: boolean
}

const NameField = ({ value, onValue, hint, required = false }: NameFieldProps) => (
  <Field
    label={t('fileName')}
    value={value}
    onValue={onValue}
    hint={hint}
    required={required}
    maxLength={MAX_NAME}
    autocomplete="off"
  />
)

/** Creates a text that is kept with its entry, for instance a note. */
export function NewText({ target, onClose, onCreated }: NewProps) {
  const [name, setName] = useState('')
  const [text, setText] = useState('')
  const create = async (): Promise<void> => {
    await createText(target, name.trim(), text)
    tell(t('textCreated', { name: visible(name.trim()) }))
    onClose()
    onCreated()
  }
  return (
    <Dialog title={t('newText')} onClose={onClose}>
      <Form work={create}>
        {problem => (
          <>
            <NameField value={name} onValue={setName} required />
            <Area label={t('theText')} value={text} onValue={setText} />
            <FormError problem={problem} />
            <DialogButtons onClose={onClose}>
              <Button type="submit">{t('createText')}</Button>
            </DialogButtons>
          </>
        )}
      </Form>
    </Dialog>
  )
}
