import { type DestinationStream, type Logger, pino } from 'pino'
import { LogOutput } from './log-output.ts'

export type Log = Logger
export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'silent'

/**
 * A structured log, one JSON object per line, on standard error: the standard output of commands stays clean.
 * No code passes secrets to the log; `redact` is a second protection.
 */
export function createLog(level: LogLevel, destination: DestinationStream = new LogOutput()): Log {
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
    destination,
  )
}
