import { type DestinationStream, type Logger, pino } from 'pino'
import { realSystem } from './system.ts'
import { escapeControls } from './text.ts'
import type { Bytes } from './units.ts'

export type Log = Logger
type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'silent'

/** Maximum size of log lines that wait for a reader. */
const MAX_WAITING: Bytes = 2 ** 20

/** Lines that a reader does not take in time are dropped and counted, so that they neither hold up the service nor fill its memory. */
function standardError(): DestinationStream {
  let dropped = 0
  const write = (line: string): void => {
    if (process.stderr.writableLength > MAX_WAITING) {
      dropped++
      return
    }
    if (dropped > 0) {
      const time = new Date(realSystem.now()).toISOString()
      const msg = 'lines of the log were dropped, because nothing took those before them'
      process.stderr.write(`${JSON.stringify({ level: 'warn', time, lines: dropped, msg })}\n`)
      dropped = 0
    }
    process.stderr.write(line)
  }
  return { write }
}

/**
 * A structured log, one JSON object per line, on standard error: the standard output of commands stays clean.
 * No code passes secrets to the log; `redact` is a second protection.
 */
export function createLog(level: LogLevel, destination: DestinationStream = standardError()): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: label => ({ level: label }) },
      redact: {
        paths: ['*.password', '*.currentPassword', '*.token', '*.cookie', '*.authorization'],
        censor: '[secret]',
      },
    },
    { write: line => destination.write(escapeControls(line)) },
  )
}
