import { Button } from '../../components/button.tsx'
import { Area, Field } from '../../components/field.tsx'
import { FormError } from '../../components/form.tsx'
import { SharedForm } from '../../components/shared-form.tsx'
import { tell } from '../../components/toast.tsx'
import { type Details, detailsIn, type Item, loadMetadata, saveDetails } from '../../lib/files.ts'
import type { Graph } from '../../lib/graph.ts'
import { t } from '../../lib/language.ts'

interface EditDetailsProps {
  readonly item: Item
  readonly onChanged: () => void
}

const labelOf = (field: keyof Details): string => t(field)

/** Edits title, description and tags in the metadata of an item. */
export function EditDetails({ item, onChanged }: EditDetailsProps) {
  const saved = (): void => {
    tell(t('saved'))
    onChanged()
  }
  return (
    <SharedForm
      load={() => loadMetadata(item)}
      inputs={[item.context, item.entryId]}
      fieldsOf={(metadata: Graph) => detailsIn(item, metadata)}
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
          <div class="buttons">
            <Button type="submit">{t('save')}</Button>
          </div>
        </>
      )}
    </SharedForm>
  )
}
