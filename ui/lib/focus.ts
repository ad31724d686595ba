const HEADINGS = 'h1, h2, caption'
const FOCUSABLE = 'a[href], button:not([disabled]), input:not([type=hidden]):not([type=checkbox])'

let path: readonly HTMLElement[] = []
let row = -1

/**
 * Moves the focus when the focused element disappears, for instance with a deleted row: to the row that takes
 * its place, otherwise to the heading of its section. Otherwise keyboard users would start again at the top
 * of the page.
 */
export function keepFocus(): void {
  document.addEventListener('focusin', ({ target }) => {
    path = ancestorsOf(target)
    const tableRow = path.find(element => element.matches('tr, li'))
    row = tableRow?.parentElement ? [...tableRow.parentElement.children].indexOf(tableRow) : -1
  })
  new MutationObserver(() => {
    const [element] = path
    if (!element || element.isConnected || document.activeElement !== document.body) return
    const rows = path.find(({ isConnected }) => isConnected)
    const neighbour = rows?.matches('tbody, ul') ? rows.children[Math.min(row, rows.children.length - 1)] : undefined
    const found = neighbour?.querySelector<HTMLElement>(FOCUSABLE) ?? headingNear(path)
    path = []
    if (found && !found.matches(FOCUSABLE)) found.tabIndex = -1
    found?.focus({ preventScroll: found.matches('h1') })
  }).observe(document.body, { childList: true, subtree: true })
}

function ancestorsOf(target: EventTarget | null): HTMLElement[] {
  const found: HTMLElement[] = []
  for (let at = target instanceof HTMLElement ? target : null; at; at = at.parentElement) found.push(at)
  return found
}

function headingNear(elements: readonly HTMLElement[]): HTMLElement | null {
  const section = elements.find(element => element.isConnected && element.matches('section, dialog, main'))
  return section?.querySelector<HTMLElement>(HEADINGS) ?? document.querySelector<HTMLElement>('main h1')
}
