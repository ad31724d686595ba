import { useRef } from 'preact/hooks'
import { t } from '../lib/language.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { useSecretKept } from './secret-kept.tsx'
import { tell } from './toast.tsx'

interface ShownOnceProps {
  readonly title: string
  readonly text: string
  /** What the value is, for screen readers. */
  readonly label: string
  readonly value: string
  readonly onClose: () => void
}

/** A secret that the service does not show again, to copy it. */
export function ShownOnce({ title, text, label, value, onClose }: ShownOnceProps) {
  const { keep, onEscape } = useSecretKept(onClose)
  const input = useRef<HTMLInputElement>(null)
  const copy = async (): Promise<void> => {
    input.current?.select()
    keep()
    // Browsers have a clipboard on secure pages only; elsewhere the selected text can be copied by hand.
    await navigator.clipboard?.writeText(value)
    tell(t('copied'))
  }
  return (
    <Dialog title={title} onClose={onClose} onEscape={onEscape}>
      <p>{text}</p>
      <input ref={input} type="text" readOnly value={value} aria-label={label} />
      <div class="buttons">
        <Button onPress={copy}>{t('copy')}</Button>
        <Button kind="quiet" onPress={onClose}>
          {t('close')}
        </Button>
      </div>
    </Dialog>
  )
}
