import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { tellProblem } from '../lib/format.ts'
import { t } from '../lib/language.ts'
import { Button } from './button.tsx'

interface Toast {
  readonly id: number
  readonly text: string
  readonly isBad: boolean
  readonly action?: ToastAction | undefined
}

/** An action offered in a message, for instance undo. */
export interface ToastAction {
  readonly text: string
  readonly work: () => unknown
}

const TOAST_TIMEOUT = 6000
/** For a message with an action, which people read before they decide. */
const ACTION_TIMEOUT = 10_000
/** A message whose button has the focus stays; it is looked at again after this time. */
const LOOK_AGAIN = 1000

let count = 0
let show: (toast: Toast) => void = () => undefined

/** Shows a short message that disappears by itself. */
export const tell = (text: string, action?: ToastAction): void => show({ id: ++count, text, isBad: false, action })

/** Shows an error; it stays until it is closed. */
export const tellFailure = (error: unknown): void => show({ id: ++count, text: tellProblem(error), isBad: true })

/** Takes a change back and says so. @param changed called afterwards, also after a failure */
export const undoBy = (work: () => Promise<unknown>, changed: () => void): ToastAction => ({
  text: t('undo'),
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

/** The area in which messages appear; screen readers announce them. */
export function Toasts() {
  const [toasts, setToasts] = useState<readonly Toast[]>([])
  const area = useRef<HTMLDivElement>(null)
  const close = (id: number): void => setToasts(all => all.filter(toast => toast.id !== id))
  const closeWhenLeft = (id: number): void => {
    if (area.current?.matches(':focus-within') === true) setTimeout(() => closeWhenLeft(id), LOOK_AGAIN)
    else close(id)
  }
  useLayoutEffect(() => {
    show = toast => {
      setToasts(all => [...all.slice(-2), toast])
      if (!toast.isBad) setTimeout(() => closeWhenLeft(toast.id), toast.action ? ACTION_TIMEOUT : TOAST_TIMEOUT)
    }
  }, [])
  return (
    <div class="toasts" role="status" ref={area}>
      {toasts.map(({ id, text, isBad, action }) => (
        <div key={id} class={isBad ? 'toast bad' : 'toast'}>
          <span>{text}</span>
          {action && (
            <Button
              size="small"
              onPress={async () => {
                await action.work()
                close(id)
              }}
            >
              {action.text}
            </Button>
          )}
          <Button kind="quiet" size="small" onPress={() => close(id)}>
            {t('close')}
          </Button>
        </div>
      ))}
    </div>
  )
}
