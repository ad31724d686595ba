import type { ComponentChildren } from 'preact'
import { useContext, useState } from 'preact/hooks'
import { Sending } from './sending.ts'

interface ButtonProps {
  readonly kind?: 'quiet' | 'danger' | 'quiet danger'
  readonly size?: 'small'
  readonly type?: 'button' | 'submit'
  readonly disabled?: boolean
  /** Label for screen readers, where the text does not name the object of the action. */
  readonly label?: string
  /** The button cannot be pressed again until the promise is settled. */
  readonly onPress?: () => unknown
  readonly children: ComponentChildren
}

export function Button({ kind, size, onPress, children, type = 'button', disabled = false, label }: ButtonProps) {
  const [busy, setBusy] = useState(false)
  const isSending = useContext(Sending) && type === 'submit'
  const press = async (): Promise<void> => {
    if (!onPress || busy) return
    setBusy(true)
    try {
      await onPress()
    } finally {
      setBusy(false)
    }
  }
  const names = ['button', kind, size].filter(name => name !== undefined).join(' ')
  // Not `disabled` while busy, because that would take the focus away.
  return (
    <button
      aria-label={label}
      type={type}
      class={names}
      disabled={disabled}
      aria-busy={busy || isSending}
      onClick={() => void press()}
    >
      {children}
    </button>
  )
}
