import { Button } from '../../components/button.tsx'
import { Dialog, DialogButtons } from '../../components/dialog.tsx'
import { Area, Field } from '../../components/field.tsx'
import { FormError } from '../../components/form.tsx'
import { SharedForm } from '../../components/shared-form.tsx'
import { tell } from '../../components/toast.tsx'
import { type Details, detailsIn, type Item, loadMetadata, saveDetails } from '../../lib/files.ts'
import { t } from '../../lib/language.ts'

interface EditDetailsProps {
  readonly item: Item
  readonly onClose: () => void
  readonly onChanged: () => void
}

const labelOf = (field: keyof Details): string => t(field)

/** Edits title, description and tags in the metadata of a file. */
export function EditDetails({ item, onClose, onChanged }: EditDetailsProps) {
  const saved = (): void => {
    tell(t('saved'))
    onClose()
    onChanged()
  }
  return (
    <Dialog title={t('editDetails')} onClose={onClose}>
      <SharedForm
        load={() => loadMetadata(item)}
        inputs={[item.context, item.entryId]}
        fieldsOf={detailsIn}
        labelOf={labelOf}
        save={(metadata, changed, tag) => saveDetails(item, metadata, changed, tag)}
        onSaved={saved}
      >
        {({ fields: { title, description, tags }, set, problem }) => (
          <>
            <Field
              label={t('title')}
              value={title}
              onValue={title => set({ title })}
              autocomplete="off"
              required={item.isFolder}
            />
            <Area label={t('description')} value={description} onValue={description => set({ description })} />
            <Field
              label={t('tags')}
              value={tags}
              onValue={tags => set({ tags })}
              autocomplete="off"
              hint={t('tagsHint')}
            />
            <FormError problem={problem} />
            <DialogButtons onClose={onClose}>
              <Button type="submit">{t('save')}</Button>
            </DialogButtons>
          </>
        )}
      </SharedForm>
    </Dialog>
  )
}
