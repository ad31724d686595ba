import type { System } from './system.ts'
import type { Milliseconds } from './units.ts'

/** Shows the progress of long work. */
export interface Progress {
  /** @param total the expected number; `undefined` when it is unknown */
  begin(what: string, total: number | undefined): void
  /** @param done the number so far @param detail for example a rate */
  at(done: number, detail?: string): void
  end(): void
}

export const silent: Progress = { begin: () => {}, at: () => {}, end: () => {} }

/** Begins a step of the work. Returns what counts each item that is done. */
export function counter(progress: Progress, what: string, total: number | undefined): () => void {
  progress.begin(what, total)
  let done = 0
  return () => progress.at(++done)
}

const REDRAW: Milliseconds = 500
const LINE: Milliseconds = 10_000
const BAR = 20
/** Before this part is done, the remaining time is not shown, because it would be a guess. */
const LEAST_PART = 0.01
const ERASE = '\r\u001b[K'

interface Step {
  readonly what: string
  readonly total: number | undefined
  readonly begun: Milliseconds
}

type Output = (text: string) => void

/** One line of a terminal that is overwritten repeatedly: a bar, the part done, the rate and the remaining time. */
export function terminalProgress(write: Output, system: Pick<System, 'monotonic'>): Progress {
  return shownEvery(REDRAW, system, {
    // Each step is shown at once.
    begun: now => now - REDRAW,
    show: (step, done, detail) => write(ERASE + textOf(step, { done, detail, now: system.monotonic(), hasBar: true })),
    end: () => write(ERASE),
  })
}

/** One line every ten seconds, for logs. */
export function lineProgress(write: Output, system: Pick<System, 'monotonic'>): Progress {
  return shownEvery(LINE, system, {
    begun: (_now, shown) => shown,
    show: (step, done, detail) => write(textOf(step, { done, detail, now: system.monotonic(), hasBar: false })),
    end: () => {},
  })
}

interface Showing {
  /** When something was shown last, seen from the begin of a step. */
  readonly begun: (now: Milliseconds, shown: Milliseconds) => Milliseconds
  readonly show: (step: Step, done: number, detail: string) => void
  readonly end: () => void
}

function shownEvery(
  interval: Milliseconds,
  system: Pick<System, 'monotonic'>,
  { begun, show, end }: Showing,
): Progress {
  let shown = system.monotonic()
  let step: Step = { what: '', total: undefined, begun: shown }
  return {
    begin(what, total) {
      step = { what, total, begun: system.monotonic() }
      shown = begun(step.begun, shown)
    },
    at(done, detail = '') {
      if (system.monotonic() - shown < interval) return
      shown = system.monotonic()
      show(step, done, detail)
    },
    end,
  }
}

interface Shown {
  readonly done: number
  readonly detail: string
  readonly now: Milliseconds
  readonly hasBar: boolean
}

function textOf({ what, total, begun }: Step, { done, detail, now, hasBar }: Shown): string {
  const part = total === undefined || total <= 0 ? undefined : Math.min(1, done / total)
  const remaining = part === undefined || part < LEAST_PART ? undefined : ((now - begun) * (1 - part)) / part
  const bar = hasBar && part !== undefined ? `${barOf(part)} ` : ''
  const amount = part === undefined ? `${done}` : `${Math.floor(100 * part)} %`
  const left = remaining === undefined ? '' : `, ${timeText(remaining)} left`
  return `${what}: ${bar}${amount}${detail === '' ? '' : `, ${detail}`}${left}`
}

function barOf(part: number): string {
  const filled = Math.floor(BAR * part)
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR - filled)}]`
}

function timeText(time: Milliseconds): string {
  const seconds = Math.max(0, Math.round(time / 1000))
  return seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`
}
