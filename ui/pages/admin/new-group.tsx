import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Dialog, DialogButtons } from '../../components/dialog.tsx'
import { Form } from '../../components/form.tsx'
import { tell } from '../../components/toast.tsx'
import { tellProblem } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { navigate } from '../../lib/router.tsx'
import { visible } from '../../lib/text.ts'
import { NameField } from './name-field.tsx'

interface NewGroupDialogProps {
  readonly title: string
  /** Of the field for the name. */
  readonly label: string
  readonly hint?: string
  /** Creates it, and resolves to the address of its page. @throws {Problem} */
  readonly create: (name: string) => Promise<string>
  readonly onClose: () => void
}

/** Asks for the name of a new group, of users or of contexts, and opens its page. */
export function NewGroupDialog({ title, create, onClose, ...field }: NewGroupDialogProps) {
  const [name, setName] = useState('')
  const submit = async (): Promise<void> => {
    const page = await create(name)
    tell(t('groupCreated', { name: visible(name) }))
    navigate(page)
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <Form work={submit}>
        {problem => (
          <>
            <NameField
              {...field}
              value={name}
              onValue={setName}
              error={problem === undefined ? undefined : tellProblem(problem)}
            />
            <DialogButtons onClose={onClose}>
              <Button type="submit">{t('createGroup')}</Button>
            </DialogButtons>
          </>
        )}
      </Form>
    </Dialog>
  )
}
