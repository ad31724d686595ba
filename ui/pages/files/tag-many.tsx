import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Dialog, DialogButtons } from '../../components/dialog.tsx'
import { Check, Field } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { tell } from '../../components/toast.tsx'
import { tagsIn, tagsOf } from '../../lib/details.ts'
import type { Item } from '../../lib/files.ts'
import { number } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { visible } from '../../lib/text.ts'
import { beginFor, countOf, type Picked } from './many-items.ts'

interface TagManyProps {
  readonly picked: Picked
  readonly onClose: () => void
  readonly onChanged: () => void
}

/** Tags that are offered to be removed. */
const MAX_OFFERED = 50

/** Adds tags to several items, and removes tags that they have. */
export function TagMany({ picked, onClose, onChanged }: TagManyProps) {
  const [typed, setTyped] = useState('')
  const [remove, setRemove] = useState<readonly string[]>([])
  const [present] = useState(() => tagsWithCount(picked.items).slice(0, MAX_OFFERED))
  const add = tagsIn(typed)
  const change = async (): Promise<void> => {
    const hasBegun = await beginFor(picked, {
      action: 'tag',
      tags: { add, remove },
      onOver: ({ done }) => {
        if (done > 0) tell(t('tagged', { count: number(done) }))
      },
    })
    if (!hasBegun) return
    onChanged()
    onClose()
  }
  return (
    <Dialog title={t('tagMany', { count: number(countOf(picked)) })} onClose={onClose}>
      <Form work={change}>
        {() => (
          <>
            <Field label={t('tagsAdd')} value={typed} onValue={setTyped} hint={t('tagsHint')} autocomplete="off" />
            {present.length > 0 && (
              <fieldset class="choices">
                <legend>{t('tagsRemove')}</legend>
                {present.map(([tag, count]) => (
                  <Check
                    key={tag}
                    label={`${visible(tag)} (${number(count)})`}
                    isOn={remove.includes(tag)}
                    onChange={isOn => setRemove(isOn ? [...remove, tag] : remove.filter(one => one !== tag))}
                  />
                ))}
              </fieldset>
            )}
            <DialogButtons onClose={onClose}>
              <Button type="submit" disabled={add.length + remove.length === 0}>
                {t('save')}
              </Button>
            </DialogButtons>
          </>
        )}
      </Form>
    </Dialog>
  )
}

/** The tags of items with the number of items that have each, the most frequent first. */
function tagsWithCount(items: readonly Item[]): ReadonlyArray<readonly [tag: string, count: number]> {
  const counts = new Map<string, number>()
  for (const item of items)
    for (const tag of tagsOf(item, item.metadata ?? {})) counts.set(tag, (counts.get(tag) ?? 0) + 1)
  return [...counts].sort(([a, one], [b, other]) => other - one || a.localeCompare(b))
}
