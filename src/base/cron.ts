import { createRequire } from 'node:module'
import type * as Library from 'croner'
import type { Milliseconds } from './units.ts'

const require = createRequire(import.meta.url)

/** The library is loaded for the first expression; most commands have none. */
function read(expression: string): Library.Cron {
  const { Cron } = require('croner') as typeof Library
  return new Cron(expression, { paused: true, mode: '5-or-6-parts' })
}

/** Whether the text is a cron expression of five fields, or of six with seconds first, and has a next time. */
export function isCron(text: string): boolean {
  try {
    return read(text).nextRun() !== null
  } catch {
    return false
  }
}

/** The first time of a cron expression after this one, in the time zone of the machine; `undefined` if there is none. */
export const nextTime = (expression: string, after: Milliseconds): Milliseconds | undefined =>
  read(expression).nextRun(new Date(after))?.getTime()
