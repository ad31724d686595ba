import { useRef } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Dialog, DialogButtons } from '../../components/dialog.tsx'
import { Name } from '../../components/name.tsx'
import type { Item } from '../../lib/files.ts'
import { t } from '../../lib/language.ts'
import { addUploads, type Target } from '../../lib/uploads.ts'

interface ReplaceFileProps {
  readonly item: Item
  readonly target: Target
  readonly onClose: () => void
}

/** Replaces a file by another one; address, title and permissions stay the same. */
export function ReplaceFile({ item, target, onClose }: ReplaceFileProps) {
  const input = useRef<HTMLInputElement>(null)
  const send = (file: File | undefined): void => {
    if (!file) return
    addUploads([{ target, file, name: item.name, replaces: item.entryId }])
    onClose()
  }
  return (
    <Dialog title={t('replaceFile')} onClose={onClose}>
      <p>
        <Name>{item.name}</Name>
      </p>
      <p>{t('replaceText')}</p>
      <input ref={input} type="file" hidden onChange={event => send(event.currentTarget.files?.[0])} />
      <DialogButtons onClose={onClose}>
        <Button onPress={() => input.current?.click()}>{t('chooseFile')}</Button>
      </DialogButtons>
    </Dialog>
  )
}
