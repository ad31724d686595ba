import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'
import { uiPath } from './base.ts'

const changed = new EventTarget()
const CHANGE = 'change'

/** The path within the application, without the query: `contexts/7/files`. */
export const currentPath = (): string => location.pathname.slice(uiPath.length)

/** Opens another page of the application. */
export function navigate(path: string): void {
  keepScroll()
  history.pushState(undefined, '', uiPath + path)
  changed.dispatchEvent(new Event(CHANGE))
  scrollTo(0, 0)
}

/** Records how far the page is scrolled, for somebody who comes back to it. */
function keepScroll(): void {
  history.replaceState({ scrollY }, '')
}

/** How far the page was scrolled when it was left; 0 for a new one. */
export function keptScroll(): number {
  const state = history.state as { readonly scrollY?: number } | null
  return state?.scrollY ?? 0
}

/** Changes the query of the address. @param isStep whether going back undoes it */
export function setQuery(query: string, isStep: boolean): void {
  const address = location.pathname + (query === '' ? '' : `?${query}`)
  if (!isStep) return history.replaceState(history.state, '', address)
  keepScroll()
  history.pushState({ scrollY }, '', address)
}

/** Changes values in the query of the address and tells the page; empty ones are left out. */
export function changeQuery(values: Readonly<Record<string, string>>): void {
  const query = new URLSearchParams(location.search)
  for (const [key, value] of Object.entries(values)) {
    if (value === '') query.delete(key)
    else query.set(key, value)
  }
  setQuery(query.toString(), false)
  changed.dispatchEvent(new Event(CHANGE))
}

/** Calls back for every change of the address that the page itself did not make. */
export function onNavigate(listener: () => void): () => void {
  changed.addEventListener(CHANGE, listener)
  return () => changed.removeEventListener(CHANGE, listener)
}

addEventListener('popstate', () => changed.dispatchEvent(new Event(CHANGE)))

/** The path within the application, now and after every change. */
export function usePath(): string {
  const [path, setPath] = useState(currentPath)
  useLayoutEffect(() => onNavigate(() => setPath(currentPath())), [])
  return path
}

/**
 * The named parts of a path that matches the pattern (`contexts/:context/files`); `undefined` if it does not
 * match.
 */
export function match(pattern: string, path: string): Readonly<Record<string, string>> | undefined {
  const [wanted, given] = [pattern.split('/'), path.replace(/\/$/, '').split('/')]
  if (wanted.length !== given.length) return undefined
  const parts: Record<string, string> = {}
  for (const [index, name] of wanted.entries()) {
    const text = decode(given[index] ?? '')
    if (name.startsWith(':')) parts[name.slice(1)] = text
    else if (name !== text) return undefined
  }
  return parts
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

interface LinkProps {
  readonly to: string
  readonly class?: string
  /** Marks a link to the current page, or to a page above it. */
  readonly current?: 'page' | 'true' | undefined
  /** Label for screen readers, where the text does not name the target. */
  readonly label?: string
  readonly tabIndex?: number
  /** What following it does, where that is less than opening its page. */
  readonly onFollow?: () => void
  readonly children: ComponentChildren
}

/** A link within the application; it can be opened in a new tab like any other link. */
export function Link({ to, class: names, current, label, tabIndex, onFollow, children }: LinkProps) {
  const follow = (event: MouseEvent): void => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    if (onFollow) onFollow()
    else navigate(to)
  }
  return (
    <a class={names} aria-label={label} aria-current={current} tabIndex={tabIndex} href={uiPath + to} onClick={follow}>
      {children}
    </a>
  )
}
