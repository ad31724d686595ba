import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Area } from '../../components/field.tsx'
import { FormError } from '../../components/form.tsx'
import { Await } from '../../components/page.tsx'
import { SharedForm } from '../../components/shared-form.tsx'
import { tell } from '../../components/toast.tsx'
import type { Item } from '../../lib/files.ts'
import { t } from '../../lib/language.ts'
import { loadText, saveText } from '../../lib/links-and-texts.ts'
import { useLoaded } from '../../lib/load.ts'
import { visible } from '../../lib/text.ts'

interface TextViewProps {
  readonly item: Item
  readonly onChanged: () => void
}

/** A text that is kept with its entry, and a form to change it. */
export function TextView({ item, onChanged }: TextViewProps) {
  const [isEditing, setEditing] = useState(false)
  const saved = (): void => {
    tell(t('saved'))
    setEditing(false)
    onChanged()
  }
  return isEditing ? (
    <EditText item={item} onSaved={saved} onClose={() => setEditing(false)} />
  ) : (
    <ShownText item={item} onEdit={() => setEditing(true)} />
  )
}

function ShownText({ item, onEdit }: { readonly item: Item; readonly onEdit: () => void }) {
  const { context, entryId, name, modified, canWrite } = item
  const [loaded, again] = useLoaded(() => loadText(item), [context, entryId, modified?.getTime()])
  return (
    <Await loaded={loaded} again={again}>
      {({ value }) => (
        <>
          {value === '' ? (
            <p class="empty">{t('textEmpty')}</p>
          ) : (
            <pre class="preview" tabIndex={0} role="region" aria-label={visible(name)}>
              {value}
            </pre>
          )}
          {canWrite && (
            <div class="buttons">
              <Button kind="quiet" size="small" onPress={onEdit}>
                {t('editText')}
              </Button>
            </div>
          )}
        </>
      )}
    </Await>
  )
}

interface EditTextProps {
  readonly item: Item
  readonly onSaved: () => void
  readonly onClose: () => void
}

const EditText = ({ item, onSaved, onClose }: EditTextProps) => (
  <SharedForm
    load={() => loadText(item)}
    inputs={[item.context, item.entryId]}
    fieldsOf={text => ({ text })}
    labelOf={() => t('theText')}
    save={(_, { text }, tag) => (text === undefined ? Promise.resolve() : saveText(item, text, tag))}
    onSaved={onSaved}
  >
    {({ fields: { text }, set, problem }) => (
      <>
        <Area label={t('theText')} value={text} onValue={text => set({ text })} rows={16} />
        <FormError problem={problem} />
        <div class="buttons">
          <Button kind="quiet" onPress={onClose}>
            {t('cancel')}
          </Button>
          <Button type="submit">{t('save')}</Button>
        </div>
      </>
    )}
  </SharedForm>
)
