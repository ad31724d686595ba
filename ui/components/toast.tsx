import { useLayoutEffect, useState } from 'preact/hooks'
import { tellProblem } from '../lib/format.ts'
import { t } from '../lib/language.ts'
import { Button } from './button.tsx'

interface Toast {
  readonly id: number
  readonly text: string
  readonly isBad: boolean
  readonly action?: ToastAction | undefined
  /** Stays until it is replaced. */
  readonly isGoingOn?: boolean
}

/** An action offered in a message, for instance undo. */
export interface ToastAction {
  readonly text: string
  readonly work: () => unknown
  /** Ctrl+Z does it, too. */
  readonly isUndo?: true
}

const TOAST_TIMEOUT = 6000
/** For a message with an action, which people read before they decide. */
const ACTION_TIMEOUT = 10_000
/** A message whose button has the focus stays; it is looked at again after this time. */
const LOOK_AGAIN = 1000

let count = 0
let toasts: readonly Toast[] = []
/** Redraws the areas for messages: that of the page, and one in each open dialog. Only the last one shows them. */
const areas: Array<() => void> = []

function set(next: readonly Toast[]): void {
  toasts = next
  for (const draw of areas) draw()
}

const hide = (id: number): void => set(toasts.filter(toast => toast.id !== id))

function show(toast: Toast): void {
  set([...toasts.filter(({ id }) => id !== toast.id).slice(-2), toast])
  if (toast.isBad || toast.isGoingOn === true) return
  setTimeout(() => hideWhenLeft(toast.id), toast.action ? ACTION_TIMEOUT : TOAST_TIMEOUT)
}

function hideWhenLeft(id: number): void {
  if (document.querySelector('.toasts:focus-within')) setTimeout(() => hideWhenLeft(id), LOOK_AGAIN)
  else hide(id)
}

/** A message about long work, which is told again as the work goes on. */
export interface Progress {
  readonly tell: (text: string) => void
  readonly end: () => void
}

/** @param stop offered with the message */
export function tellProgress(stop: ToastAction): Progress {
  const id = ++count
  return {
    tell: text => show({ id, text, isBad: false, action: stop, isGoingOn: true }),
    end: () => hide(id),
  }
}

/** Shows a short message that disappears by itself. */
export const tell = (text: string, action?: ToastAction): void => show({ id: ++count, text, isBad: false, action })

/** Keys that a field has for itself. */
const TYPING = 'input:not([type=checkbox], [type=radio]), select, textarea, [contenteditable]'

/** Ctrl+Z undoes what the latest message offers to undo, except where somebody is typing. */
function undoLatest(event: KeyboardEvent): void {
  const { key, ctrlKey, metaKey, shiftKey, altKey, target } = event
  if (key.toLowerCase() !== 'z' || !(ctrlKey || metaKey) || shiftKey || altKey || event.defaultPrevented) return
  const latest = [...toasts].reverse().find(({ action }) => action?.isUndo === true)
  if (!latest?.action || (target instanceof Element && target.matches(TYPING))) return
  event.preventDefault()
  hide(latest.id)
  void latest.action.work()
}

/** Shows what went wrong; it stays until it is closed. */
export const tellBad = (text: string): void => show({ id: ++count, text, isBad: true })

/** Shows an error; it stays until it is closed. */
export const tellFailure = (error: unknown): void => tellBad(tellProblem(error))

/** Takes a change back and says so. @param changed called afterwards, also after a failure */
export const undoBy = (work: () => Promise<unknown>, changed: () => void): ToastAction => ({
  text: t('undo'),
  isUndo: true,
  work: async () => {
    await attempt(work, t('undone'))
    changed()
  },
})

/**
 * Runs `work` and reports success or failure.
 * @param done a function if the message depends on the result
 * @param action offered with the message of success
 */
export async function attempt(
  work: () => Promise<unknown>,
  done: string | (() => string),
  action?: ToastAction,
): Promise<boolean> {
  try {
    await work()
    tell(typeof done === 'string' ? done : done(), action)
    return true
  } catch (error) {
    tellFailure(error)
    return false
  }
}

/**
 * The area in which messages appear; screen readers announce them. An open dialog has one of its own, because nothing outside of it can be
 * used.
 */
export function Toasts() {
  const [, draw] = useState(0)
  const [redraw] = useState(() => () => draw(number => number + 1))
  useLayoutEffect(() => {
    areas.push(redraw)
    set(toasts)
    // Added once, however many areas there are.
    document.addEventListener('keydown', undoLatest)
    return () => {
      areas.splice(areas.indexOf(redraw), 1)
      set(toasts)
    }
  }, [])
  const shown = areas.at(-1) === redraw ? toasts : []
  return (
    <div class="toasts" role="status">
      {shown.map(({ id, text, isBad, action }) => (
        <div key={id} class={isBad ? 'toast bad' : 'toast'}>
          <span>{text}</span>
          {action && (
            <Button
              size="small"
              onPress={async () => {
                await action.work()
                hide(id)
              }}
            >
              {action.text}
            </Button>
          )}
          <Button kind="quiet" size="small" onPress={() => hide(id)}>
            {t('close')}
          </Button>
        </div>
      ))}
    </div>
  )
}
