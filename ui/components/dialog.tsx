import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { t } from '../lib/language.ts'
import { Button } from './button.tsx'

const FIELDS = 'input:not([type=hidden]):not([tabindex="-1"]), select, textarea'

/** Typing can begin at once; a dialog without fields starts with its first button, the way out. */
export const focusFirstField = (within: Element | null): void => within?.querySelector<HTMLElement>(FIELDS)?.focus()

interface DialogProps {
  readonly size?: 'large'
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** A window over the page that keeps the focus in it and gives it back; Escape closes it. Shown as long as it is rendered. */
export function Dialog({ title, onClose, size, children }: DialogProps) {
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  const isGone = useRef(false)
  useLayoutEffect(() => {
    const before = document.activeElement
    const element = dialog.current
    element?.showModal()
    focusFirstField(element)
    return () => {
      // Closing it here is nobody's choice: the browser reports it later all the same.
      isGone.current = true
      // While it is open nothing outside can have the focus.
      element?.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    <dialog ref={dialog} class={size} aria-labelledby={id} onClose={() => !isGone.current && onClose()}>
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
