import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { t } from '../lib/language.ts'
import { Button } from './button.tsx'
import { Toasts } from './toast.tsx'

const FIELDS = 'input:not([type=hidden]):not([tabindex="-1"]), select, textarea'

/**
 * Focuses the first field, so that the user can type at once; in a dialog without fields the first button,
 * which closes it.
 */
export function focusFirstField(within: Element | null): void {
  const field = within?.querySelector<HTMLElement>(FIELDS)
  field?.focus()
  // Of a file name people change what is before its extension.
  if (!(field instanceof HTMLInputElement) || field.dataset['preselect'] === undefined) return
  const dot = field.value.lastIndexOf('.')
  field.setSelectionRange(0, dot > 0 ? dot : field.value.length)
}

interface DialogProps {
  /** `drawer`: at the edge of a narrow window; `panel`: all about one thing. */
  readonly size?: 'large' | 'drawer' | 'panel'
  /** A click beside it closes it, as long as nobody has typed anything that could be lost. */
  readonly closesBeside?: boolean
  readonly title: string
  readonly onClose: () => void
  /** What Escape does instead of closing it. */
  readonly onEscape?: (() => void) | undefined
  readonly children: ComponentChildren
}

/**
 * A modal dialog that keeps the focus and returns it when it closes; Escape closes it. Shown as long as it is
 * rendered.
 */
export function Dialog({ title, onClose, onEscape = onClose, size, closesBeside = false, children }: DialogProps) {
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  const isGone = useRef(false)
  const isTyped = useRef(false)
  useLayoutEffect(() => {
    const before = document.activeElement
    const element = dialog.current
    element?.showModal()
    focusFirstField(element)
    return () => {
      // Closing it here is not an action of the user, but the browser reports it later as well.
      isGone.current = true
      // While the dialog is open, nothing outside of it can have the focus.
      element?.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class={size}
      aria-labelledby={id}
      onCancel={event => {
        // Browsers report the end of the dialog some time after Escape, and the user may have opened another one by then.
        event.preventDefault()
        onEscape()
      }}
      onClose={() => !isGone.current && onClose()}
      onInput={() => (isTyped.current = true)}
      onClick={event => closesBeside && !isTyped.current && isBeside(event) && onClose()}
    >
      <div class="stack">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
      <Toasts />
    </dialog>
  )
}

/** The area around a dialog belongs to it. */
function isBeside({ target, currentTarget, clientX, clientY }: MouseEvent): boolean {
  if (target !== currentTarget || !(target instanceof Element)) return false
  const { left, right, top, bottom } = target.getBoundingClientRect()
  return clientX < left || clientX > right || clientY < top || clientY > bottom
}

interface ConfirmProps {
  readonly title: string
  readonly text: string
  /** The action, which is also the text of the button. */
  readonly action: string
  readonly onConfirm: () => Promise<void>
  readonly onClose: () => void
}

/** Asks for a confirmation before an action that cannot be undone. Closes itself afterwards. */
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

/** The buttons of a dialog: cancel, and the action. */
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
