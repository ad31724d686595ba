import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon } from './icon.tsx'

export interface MenuItem {
  readonly text: string
  /** The action, the address of a download, or an address that opens in a new tab. */
  readonly onPick?: () => void
  readonly download?: string
  readonly link?: string
  readonly isDangerous?: boolean
}

/** Another page may not know where its visitor comes from, or act in this window. */
export const newTab = { target: '_blank', rel: 'noopener noreferrer' } as const

interface MenuProps {
  /** Name of the menu, for screen readers. */
  readonly label: string
  readonly items: readonly MenuItem[]
  /** What its button shows, instead of three dots. */
  readonly children?: ComponentChildren
  /** Of its button; the three dots are quiet and small. */
  readonly class?: string
  /** Whether the button is among the stops of the Tab key. */
  readonly isTabStop?: boolean
}

/** A button that opens a list of actions. Arrow keys move within it, Escape closes it. */
export function Menu({ label, items, children, class: names, isTabStop = true }: MenuProps) {
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  const box = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const close = (givesBack: boolean): void => {
    setOpen(false)
    if (givesBack) button.current?.focus()
  }
  useLayoutEffect(() => {
    if (!isOpen) return undefined
    const list = box.current?.querySelector<HTMLElement>('[role=menu]')
    if (list && list.getBoundingClientRect().bottom > innerHeight) list.classList.add('above')
    // It ends where its button ends, unless there is no room for it on that side.
    const edges = list?.getBoundingClientRect()
    if (edges && (edges.left < 0 || edges.right > document.documentElement.clientWidth)) list?.classList.add('onward')
    list?.querySelector<HTMLElement>('[role=menuitem]')?.focus()
    const leave = (event: Event): void => {
      if (!(event.target instanceof Node && box.current?.contains(event.target) === true)) setOpen(false)
    }
    document.addEventListener('pointerdown', leave)
    return () => document.removeEventListener('pointerdown', leave)
  }, [isOpen])
  const move = (event: KeyboardEvent): void => {
    const all = [...(box.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])]
    const at = all.indexOf(document.activeElement as HTMLElement)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 + all.length, Home: 0, End: all.length - 1 }[event.key]
    if (event.key === 'Escape') close(true)
    else if (event.key === 'Tab') return close(false)
    else if (to === undefined) return
    else all[to % all.length]?.focus()
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div class="menu" ref={box} onKeyDown={isOpen ? move : undefined}>
      <button
        ref={button}
        type="button"
        class={names ?? 'button quiet small only-icon'}
        tabIndex={isTabStop ? undefined : -1}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        {children ?? <Icon name="more" />}
      </button>
      {isOpen && (
        <div class="card" role="menu" id={id} aria-label={label}>
          {items.map(({ text, onPick, download, link, isDangerous }) =>
            download === undefined && link === undefined ? (
              <button
                key={text}
                type="button"
                role="menuitem"
                tabIndex={-1}
                class={isDangerous === true ? 'danger' : undefined}
                onClick={() => {
                  close(true)
                  onPick?.()
                }}
              >
                {text}
              </button>
            ) : (
              <a
                key={text}
                role="menuitem"
                tabIndex={-1}
                onClick={() => close(true)}
                {...(link === undefined ? { href: download ?? '', download: true } : { href: link, ...newTab })}
              >
                {text}
              </a>
            ),
          )}
        </div>
      )}
    </div>
  )
}
