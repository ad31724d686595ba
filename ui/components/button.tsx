import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

interface ButtonProps {
  readonly kind?: 'quiet' | 'danger' | 'quiet danger'
  readonly size?: 'small'
  readonly type?: 'button' | 'submit'
  readonly disabled?: boolean
  /** What it does, where its text alone does not say on what. */
  readonly label?: string
  /** While its promise runs the button cannot be pressed again. */
  readonly onPress?: () => unknown
  readonly children: ComponentChildren
}

export function Button({ kind, size, onPress, children, type = 'button', disabled = false, label }: ButtonProps) {
  const [busy, setBusy] = useState(false)
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
  // Not `disabled` while busy: that would take the focus away from whoever pressed it.
  return (
    <button
      aria-label={label}
      type={type}
      class={names}
      disabled={disabled}
      aria-busy={busy}
      onClick={() => void press()}
    >
      {children}
    </button>
  )
}
