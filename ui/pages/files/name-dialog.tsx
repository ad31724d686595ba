import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Dialog, DialogButtons } from '../../components/dialog.tsx'
import { Field } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { SharedForm } from '../../components/shared-form.tsx'
import { tell, undoBy } from '../../components/toast.tsx'
import { Problem } from '../../lib/api.ts'
import {
  createFolder,
  findNamed,
  folderOf,
  type Item,
  loadNaming,
  MAX_NAME,
  nameIn,
  nameLanguage,
  rename,
  saveName,
} from '../../lib/files.ts'
import { tellProblem } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { visible } from '../../lib/text.ts'
import type { Target } from '../../lib/uploads.ts'

interface NameDialogProps {
  readonly item: Item
  readonly target: Target
  readonly onClose: () => void
  readonly onChanged: () => void
}

/** Renames a file or folder. */
export function NameDialog({ item, target, onClose, onChanged }: NameDialogProps) {
  const check = useNameCheck(async () => ({ ...target, folder: await folderOf(item) }), item.entryId)
  const saved = (name: string, before: string): void => {
    tell(
      t('renamed', { name: visible(name) }),
      undoBy(() => rename(item, before), onChanged),
    )
    onClose()
    onChanged()
  }
  return (
    <Dialog title={t('rename')} onClose={onClose}>
      <SharedForm
        load={() => loadNaming(item)}
        inputs={[item.context, item.entryId]}
        fieldsOf={graph => ({ name: nameIn(item, graph) })}
        labelOf={() => t('fileName')}
        save={async (graph, { name }, tag) => {
          if (name === undefined) return
          await check.requireFree(name.trim())
          await saveName(item, graph, name.trim(), tag)
        }}
        onSaved={({ name }, before) => saved(name.trim(), before.name)}
      >
        {({ fields, set, problem, state }) => (
          <NameFields
            value={fields.name}
            hint={nameLanguage(item, state)}
            onValue={name => set({ name })}
            action={check.actionFor(fields.name.trim(), t('rename'))}
            problem={problem}
            onClose={onClose}
          />
        )}
      </SharedForm>
    </Dialog>
  )
}

interface NewFolderProps {
  readonly target: Target
  readonly onClose: () => void
  readonly onCreated: () => void
}

export function NewFolder({ target, onClose, onCreated }: NewFolderProps) {
  const [name, setName] = useState('')
  const check = useNameCheck(async () => target)
  const create = async (): Promise<void> => {
    await check.requireFree(name.trim())
    await createFolder(target, name.trim())
    tell(t('folderCreated', { name: visible(name.trim()) }))
    onClose()
    onCreated()
  }
  return (
    <Dialog title={t('newFolder')} onClose={onClose}>
      <Form work={create}>
        {problem => (
          <NameFields
            value={name}
            onValue={setName}
            action={check.actionFor(name.trim(), t('createFolder'))}
            problem={problem}
            onClose={onClose}
          />
        )}
      </Form>
    </Dialog>
  )
}

/**
 * Refuses a name that is already in the folder, once: the person may send the same name again, because the service allows equal names.
 * @param placeOf the folder that the name is for
 * @param own id of the item that is renamed
 */
function useNameCheck(placeOf: () => Promise<Target>, own?: string) {
  const [taken, setTaken] = useState<string>()
  return {
    requireFree: async (name: string): Promise<void> => {
      if (name.includes('/')) throw new Problem(400, { code: 'name-with-slash' })
      if (name === '.' || name === '..') throw new Problem(400, { code: 'name-of-dots' })
      if (name === '') throw new Problem(400, { code: 'name-blank' })
      if (name === taken) return
      const found = await findNamed(await placeOf(), [name])
      if (![...found.values()].some(({ entryId }) => entryId !== own)) return
      setTaken(name)
      throw new Problem(409, { code: 'item-exists', name: visible(name) })
    },
    actionFor: (name: string, action: string): string => (name === taken ? t('useAllTheSame') : action),
  }
}

interface NameFieldsProps {
  readonly value: string
  readonly hint?: string | undefined
  readonly onValue: (name: string) => void
  readonly action: string
  readonly problem: unknown
  readonly onClose: () => void
}

const NameFields = ({ value, hint, onValue, action, problem, onClose }: NameFieldsProps) => (
  <>
    <Field
      label={t('fileName')}
      value={value}
      onValue={onValue}
      required
      maxLength={Math.max(MAX_NAME, value.length)}
      autocomplete="off"
      isPreselected
      hint={hint}
      error={problem === undefined ? undefined : tellProblem(problem)}
    />
    <DialogButtons onClose={onClose}>
      <Button type="submit">{action}</Button>
    </DialogButtons>
  </>
)
