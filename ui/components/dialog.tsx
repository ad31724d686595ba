import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { t } from '../lib/language.ts'
import { Button } from './button.tsx'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** A window over the page that keeps the focus in it and gives it back; Escape closes it. Shown as long as it is rendered. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onClose}>
      <div class="stack">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  )
}

interface ConfirmProps {
  readonly title: string
  readonly text: string
  /** What will be done: the word on the button. */
  readonly action: string
  readonly onConfirm: () => Promise<void>
  readonly onClose: () => void
}

/** Asks before something that cannot be taken back. Closes itself when it is done. */
export function Confirm({ title, text, action, onConfirm, onClose }: ConfirmProps) {
  const confirm = async (): Promise<void> => {
    await onConfirm()
    onClose()
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <DialogButtons onClose={onClose}>
        <Button kind="danger" onPress={confirm}>
          {action}
        </Button>
      </DialogButtons>
    </Dialog>
  )
}

/** At the end of a dialog: the way out, and what the dialog is for. */
export function DialogButtons({
  onClose,
  children,
}: {
  readonly onClose: () => void
  readonly children: ComponentChildren
}) {
  return (
    <div class="buttons">
      <Button kind="quiet" onPress={onClose}>
        {t('cancel')}
      </Button>
      {children}
    </div>
  )
}
