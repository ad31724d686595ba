import { useLayoutEffect, useState } from 'preact/hooks'
import { tellProblem } from '../lib/format.ts'
import { t } from '../lib/language.ts'
import { Button } from './button.tsx'

interface Toast {
  readonly id: number
  readonly text: string
  readonly isBad: boolean
  readonly action?: ToastAction | undefined
}

/** What can be done about it, for instance undo it. */
export interface ToastAction {
  readonly text: string
  readonly work: () => unknown
}

const TOAST_TIMEOUT = 6000

let count = 0
let show: (toast: Toast) => void = () => undefined

/** A short word on what has been done, which goes by itself. */
export const tell = (text: string, action?: ToastAction): void => show({ id: ++count, text, isBad: false, action })

/** What did not work; stays until it is closed. */
export const tellFailure = (error: unknown): void => show({ id: ++count, text: tellProblem(error), isBad: true })

/** Does it and says so, or why not. @param done as a function where the words depend on what was done */
export async function attempt(work: () => Promise<unknown>, done: string | (() => string)): Promise<boolean> {
  try {
    await work()
    tell(typeof done === 'string' ? done : done())
    return true
  } catch (error) {
    tellFailure(error)
    return false
  }
}

/** Where they appear; spoken by screen readers. */
export function Toasts() {
  const [toasts, setToasts] = useState<readonly Toast[]>([])
  const close = (id: number): void => setToasts(all => all.filter(toast => toast.id !== id))
  useLayoutEffect(() => {
    show = toast => {
      setToasts(all => [...all.slice(-2), toast])
      if (!toast.isBad) setTimeout(() => close(toast.id), TOAST_TIMEOUT)
    }
  }, [])
  return (
    <div class="toasts" role="status">
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
