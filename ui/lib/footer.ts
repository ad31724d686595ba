import type { ComponentType } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'

const changed = new EventTarget()
const CHANGE = 'change'
let footer: ComponentType | undefined

/** Shows a component below this page and all others that follow it. Its code comes with the page that needs it. */
export function showFooter(component: ComponentType): void {
  footer = component
  changed.dispatchEvent(new Event(CHANGE))
}

/** The component that is shown below all pages, if there is one. */
export function useFooter(): ComponentType | undefined {
  const [, draw] = useState(footer)
  useLayoutEffect(() => {
    const look = (): void => draw(() => footer)
    changed.addEventListener(CHANGE, look)
    return () => changed.removeEventListener(CHANGE, look)
  }, [])
  return footer
}
