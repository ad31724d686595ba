import { observeWindowOffset, observeWindowRect, Virtualizer, windowScroll } from '@tanstack/virtual-core'
import type { RefObject } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'

interface Rows {
  readonly indexes: readonly number[]
  /** Height in pixels of the rows before the first one and after the last one. */
  readonly before: number
  readonly after: number
}

/** Computes which rows of a long list are visible, and the height of all others. @param height of a row in pixels */
export function useVirtualRows(list: RefObject<HTMLElement | null>, count: number, height: number): Rows {
  const [, draw] = useState(0)
  const [margin, setMargin] = useState(0)
  const options = {
    count,
    estimateSize: () => height,
    overscan: 10,
    scrollMargin: margin,
    getScrollElement: () => window,
    observeElementRect: observeWindowRect,
    observeElementOffset: observeWindowOffset,
    scrollToFn: windowScroll,
    initialRect: { width: innerWidth, height: innerHeight },
    initialOffset: scrollY,
    onChange: () => draw(number => number + 1),
  }
  const [virtualizer] = useState(() => new Virtualizer<Window, HTMLElement>(options))
  virtualizer.setOptions(options)
  useLayoutEffect(() => virtualizer._didMount(), [])
  useLayoutEffect(() => virtualizer._willUpdate())
  useLayoutEffect(() => virtualizer.measure(), [height])
  useLayoutEffect(() => {
    const top = (list.current?.getBoundingClientRect().top ?? 0) + scrollY
    if (Math.abs(top - margin) > 1) setMargin(top)
  })
  const items = virtualizer.getVirtualItems()
  const [first, last] = [items[0], items.at(-1)]
  return {
    indexes: items.map(({ index }) => index),
    before: first ? first.start - margin : 0,
    after: last ? count * height - (last.end - margin) : count * height,
  }
}
