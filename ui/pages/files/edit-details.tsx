import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Dialog, DialogButtons } from '../../components/dialog.tsx'
import { Area, Field } from '../../components/field.tsx'
import { Form, FormError } from '../../components/form.tsx'
import { tell } from '../../components/toast.tsx'
import { titleIn, valuesOf } from '../../lib/contexts.ts'
import { describe, DESCRIPTION, type Item, TAG, TITLE } from '../../lib/files.ts'
import { t } from '../../lib/language.ts'

interface EditDetailsProps {
  readonly item: Item
  readonly onClose: () => void
  readonly onChanged: () => void
}

/** Edits title, description and tags in the metadata of a file. */
export function EditDetails({ item, onClose, onChanged }: EditDetailsProps) {
  const [title, setTitle] = useState(titleIn(item.metadata) ?? '')
  const [description, setDescription] = useState(item.description ?? '')
  const [tags, setTags] = useState(valuesOf(item.metadata, TAG).join(', '))
  const save = async (): Promise<void> => {
    const words = tags.split(',').map(tag => tag.trim())
    await describe(item, {
      [TITLE]: [title.trim()].filter(text => text !== ''),
      [DESCRIPTION]: [description.trim()].filter(text => text !== ''),
      [TAG]: [...new Set(words.filter(tag => tag !== ''))],
    })
    tell(t('saved'))
    onClose()
    onChanged()
  }
  return (
    <Dialog title={t('editDetails')} onClose={onClose}>
      <Form work={save}>
        {problem => (
          <>
            <Field label={t('title')} value={title} onValue={setTitle} autocomplete="off" required={item.isFolder} />
            <Area label={t('description')} value={description} onValue={setDescription} />
            <Field label={t('tags')} value={tags} onValue={setTags} autocomplete="off" hint={t('tagsHint')} />
            <FormError problem={problem} />
            <DialogButtons onClose={onClose}>
              <Button type="submit">{t('save')}</Button>
            </DialogButtons>
          </>
        )}
      </Form>
    </Dialog>
  )
}
