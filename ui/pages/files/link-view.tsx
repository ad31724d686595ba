import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Dialog, DialogButtons } from '../../components/dialog.tsx'
import { Form, FormError } from '../../components/form.tsx'
import { Icon } from '../../components/icon.tsx'
import { newTab } from '../../components/menu.tsx'
import { tell } from '../../components/toast.tsx'
import { type Item, webAddress } from '../../lib/files.ts'
import { t } from '../../lib/language.ts'
import { readWebAddress, saveTarget } from '../../lib/links-and-texts.ts'
import { visible } from '../../lib/text.ts'
import { AddressField, isAboutAddress } from './new-link-or-text.tsx'

interface LinkViewProps {
  readonly item: Item
  readonly onChanged: () => void
}

/** Where a link leads. Its owners can change that. */
export function LinkView({ item, onChanged }: LinkViewProps) {
  const [isChanging, setChanging] = useState(false)
  const { target = '', isOwner } = item
  const web = webAddress(item)
  return (
    <div class="leads stack">
      <span class="large-icon">
        <Icon name="link" />
      </span>
      <p class="muted">{t('linkLeadsTo')}</p>
      <p class="address">
        {web === undefined ? (
          visible(target)
        ) : (
          <a href={web} {...newTab}>
            {visible(target)}
          </a>
        )}
      </p>
      <div class="buttons">
        {web !== undefined && (
          <a class="button" href={web} {...newTab}>
            {t('openLink')}
          </a>
        )}
        {isOwner && (
          <Button kind="quiet" onPress={() => setChanging(true)}>
            {t('changeAddress')}
          </Button>
        )}
      </div>
      {isChanging && <ChangeAddress item={item} onClose={() => setChanging(false)} onChanged={onChanged} />}
    </div>
  )
}

function ChangeAddress({ item, onClose, onChanged }: LinkViewProps & { readonly onClose: () => void }) {
  const [typed, setTyped] = useState(item.target ?? '')
  const save = async (): Promise<void> => {
    await saveTarget(item, readWebAddress(typed))
    tell(t('saved'))
    onClose()
    onChanged()
  }
  return (
    <Dialog title={t('changeAddress')} onClose={onClose}>
      <Form work={save}>
        {problem => (
          <>
            <AddressField value={typed} onValue={setTyped} problem={problem} />
            <FormError problem={isAboutAddress(problem) ? undefined : problem} />
            <DialogButtons onClose={onClose}>
              <Button type="submit">{t('save')}</Button>
            </DialogButtons>
          </>
        )}
      </Form>
    </Dialog>
  )
}
