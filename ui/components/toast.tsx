import { useLayoutEffect, useState } from 'preact/hooks'
import { tellProblem } from '../lib/format.ts'
import { t } from '../lib/language.ts'
import { Button } from './button.tsx'

interface Toast {
  readonly id: number
  readonly text: string
  readonly isBad: boolean
}

const TOAST_TIMEOUT = 6000

let count = 0
let show: (toast: Toast) => void = () => undefined

/** A short word on what has been done, which goes by itself. */
export const tell = (text: string): void => show({ id: ++count, text, isBad: false })

/** What did not work; stays until it is closed. */
export const tellFailure = (error: unknown): void => show({ id: ++count, text: tellProblem(error), isBad: true })

/** Does it and says so, or says why not. */
export async function attempt(work: () => Promise<unknown>, done: string): Promise<boolean> {
  try {
    await work()
    tell(done)
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
      {toasts.map(({ id, text, isBad }) => (
        <div key={id} class={isBad ? 'toast bad' : 'toast'}>
          <span>{text}</span>
          <Button kind="quiet" size="small" onPress={() => close(id)}>
            {t('close')}
          </Button>
        </div>
      ))}
    </div>
  )
}
