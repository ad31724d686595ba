import type { System } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'

/** Shows the progress of long work. */
export interface Progress {
  /** @param total the expected number; `undefined` when it is unknown */
  begin(what: string, total: number | undefined): void
  /** @param done the number so far @param detail for example a rate */
  at(done: number, detail?: string): void
  end(): void
}

export const silent: Progress = { begin: () => {}, at: () => {}, end: () => {} }

const INTERVAL: Milliseconds = 500

/** One line of a terminal that is overwritten repeatedly: part done, rate and remaining time. */
export function terminalProgress(write: (text: string) => void, system: System): Progress {
  let what = ''
  let total: number | undefined
  let begun: Milliseconds = 0
  let shown: Milliseconds = 0
  const show = (done: number, detail: string): void => {
    const elapsed = system.monotonic() - begun
    const remaining = total === undefined || done <= 0 ? undefined : (elapsed * (total - done)) / done
    const part = total === undefined || total <= 0 ? `${done}` : `${Math.min(100, Math.floor((100 * done) / total))} %`
    const left = remaining === undefined ? '' : `, ${timeText(remaining)} left`
    write(`\r\u001b[K${what}: ${part}${detail === '' ? '' : `, ${detail}`}${left}`)
  }
  return {
    begin(name, of) {
      what = name
      total = of
      begun = system.monotonic()
      shown = begun - INTERVAL
    },
    at(done, detail = '') {
      if (system.monotonic() - shown < INTERVAL) return
      shown = system.monotonic()
      show(done, detail)
    },
    end: () => write('\r\u001b[K'),
  }
}

function timeText(time: Milliseconds): string {
  const seconds = Math.max(0, Math.round(time / 1000))
  return seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`
}
