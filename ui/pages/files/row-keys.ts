import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Item } from '../../lib/files.ts'
import type { Action } from './file-actions.tsx'
import type { Selection } from './selecting.ts'

/** Rows that PageUp and PageDown pass over. */
const PAGE = 10

interface RowKeys {
  /** Index of the row that the Tab key reaches. */
  readonly active: number
  readonly onFocus: (event: FocusEvent) => void
  readonly onKeyDown: (event: KeyboardEvent) => void
  /** A browser presses a button when Space is released. */
  readonly onKeyUp: (event: KeyboardEvent) => void
}

interface RowKeysProps {
  readonly list: { readonly current: HTMLElement | null }
  readonly results: number
  readonly height: number
  readonly at: (index: number) => Item | undefined
  readonly selection: Selection
  readonly onAction: (kind: Action['kind'], items: readonly Item[]) => void
}

const NAME = 'th.name :is(a, button)'
const BOX = '.check input'
const indexOf = (target: EventTarget | null): number =>
  Number(target instanceof Element ? (target.closest<HTMLElement>('tr')?.dataset['index'] ?? -1) : -1)

/** One row is a stop of the Tab key; arrow keys go to the others, also to those that are not drawn yet. */
export function useRowKeys({ list, results, height, at, selection, onAction }: RowKeysProps): RowKeys {
  const [active, setActive] = useState(0)
  const wanted = useRef<number | undefined>(undefined)
  const focusWanted = (): void => {
    if (wanted.current === undefined) return
    const name = list.current?.querySelector<HTMLElement>(`tr[data-index="${wanted.current}"] ${NAME}`)
    if (!name) return
    wanted.current = undefined
    name.focus({ preventScroll: true })
  }
  useLayoutEffect(focusWanted)
  const goTo = (index: number): number => {
    const to = Math.min(Math.max(index, 0), results - 1)
    wanted.current = to
    setActive(to)
    reveal(list.current, to * height, height)
    // A row that is drawn already needs no other drawing.
    focusWanted()
    return to
  }
  const actOn = (kind: Action['kind'], index: number): void => {
    const item = at(index)
    if (!item) return
    if (selection.has(item)) void selection.resolve().then(items => onAction(kind, items))
    else onAction(kind, [item])
  }
  const keys: Readonly<Record<string, (index: number) => unknown>> = {
    ArrowDown: index => goTo(index + 1),
    ArrowUp: index => goTo(index - 1),
    Home: () => goTo(0),
    End: () => goTo(results - 1),
    PageDown: index => goTo(index + PAGE),
    PageUp: index => goTo(index - PAGE),
    ' ': index => selection.toggle(index),
    Delete: index => actOn('delete', index),
    F2: index =>
      onAction(
        'rename',
        [at(index)].flatMap(item => item ?? []),
      ),
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const { key, target } = event
    const index = indexOf(target)
    if (index < 0 || !(target instanceof HTMLElement) || target.closest('[role=menu]') || event.altKey) return
    const row = target.closest('tr')
    const isAtName = target.matches(NAME)
    // Somebody who has ticked a row with the mouse goes on with the keys.
    const isAtBox = target.matches(BOX) && key !== ' '
    if (key === 'ArrowRight' && isAtName) row?.querySelector<HTMLElement>('.menu button')?.focus()
    else if (key === 'ArrowLeft' && !isAtName) row?.querySelector<HTMLElement>(NAME)?.focus()
    else if (key === 'Escape' && selection.count > 0) selection.clear()
    else if (key === 'a' && (event.ctrlKey || event.metaKey)) selection.all()
    else {
      const work = keys[key]
      if (!work || !(isAtName || isAtBox) || event.ctrlKey || event.metaKey) return
      if (event.shiftKey && key === ' ') selection.extendTo(index)
      else if (event.shiftKey && key.startsWith('Arrow'))
        selection.extendTo(goTo(index + (key === 'ArrowDown' ? 1 : -1)), index)
      else work(index)
    }
    event.preventDefault()
  }
  const onKeyUp = (event: KeyboardEvent): void => {
    if (event.key === ' ' && event.target instanceof HTMLElement && event.target.matches(NAME)) event.preventDefault()
  }
  const onFocus = ({ target }: FocusEvent): void => {
    const index = indexOf(target)
    if (index >= 0) setActive(index)
  }
  return { active: Math.min(active, Math.max(0, results - 1)), onFocus, onKeyDown, onKeyUp }
}

/** Scrolls a row into the part of the window that nothing covers. @param top of the row, in pixels from the top of the list */
function reveal(list: HTMLElement | null, top: number, height: number): void {
  if (!list) return
  const at = list.getBoundingClientRect().top + top
  // The cells of the head stay in the window; the head itself does not.
  const upper = document.querySelector('.files thead th')?.getBoundingClientRect().bottom ?? 0
  const lower = document.querySelector('.tray')?.getBoundingClientRect().top ?? innerHeight
  if (at < upper) scrollBy(0, at - upper)
  else if (at + height > lower) scrollBy(0, at + height - lower)
}
