import { type DestinationStream, type Logger, pino } from 'pino'

export type Log = Logger
export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'silent'

/**
 * Structured log, one JSON object per line on standard error, so that a command's own output stays clean.
 * Secrets never reach it because nothing hands them over; `redact` is the second fence.
 */
export function createLog(level: LogLevel, destination: DestinationStream = process.stderr): Log {
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
