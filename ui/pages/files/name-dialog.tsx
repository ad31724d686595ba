import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Dialog, DialogButtons } from '../../components/dialog.tsx'
import { Field } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { tell, undoBy } from '../../components/toast.tsx'
import { createFolder, type Item, rename } from '../../lib/files.ts'
import { tellProblem } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import type { Target } from '../../lib/uploads.ts'

const MAX_NAME = 255

interface NameDialogProps {
  readonly item: Item
  readonly onClose: () => void
  readonly onChanged: () => void
}

/** Renames a file or folder. */
export function NameDialog({ item, onClose, onChanged }: NameDialogProps) {
  const save = async (name: string): Promise<void> => {
    await rename(item, name)
    tell(
      t('renamed', { name }),
      undoBy(() => rename(item, item.name), onChanged),
    )
    onClose()
    onChanged()
  }
  return <AskName title={t('rename')} action={t('rename')} value={item.name} onName={save} onClose={onClose} />
}

interface NewFolderProps {
  readonly target: Target
  readonly onClose: () => void
  readonly onCreated: () => void
}

export function NewFolder({ target, onClose, onCreated }: NewFolderProps) {
  const create = async (name: string): Promise<void> => {
    await createFolder(target, name)
    tell(t('folderCreated', { name }))
    onClose()
    onCreated()
  }
  return <AskName title={t('newFolder')} action={t('createFolder')} value="" onName={create} onClose={onClose} />
}

interface AskNameProps {
  readonly title: string
  readonly action: string
  readonly value: string
  readonly onName: (name: string) => Promise<void>
  readonly onClose: () => void
}

function AskName({ title, action, value, onName, onClose }: AskNameProps) {
  const [name, setName] = useState(value)
  return (
    <Dialog title={title} onClose={onClose}>
      <Form work={() => onName(name.trim())}>
        {problem => (
          <>
            <Field
              label={t('fileName')}
              value={name}
              onValue={setName}
              required
              maxLength={Math.max(MAX_NAME, value.length)}
              autocomplete="off"
              error={problem === undefined ? undefined : tellProblem(problem)}
            />
            <DialogButtons onClose={onClose}>
              <Button type="submit">{action}</Button>
            </DialogButtons>
          </>
        )}
      </Form>
    </Dialog>
  )
}
