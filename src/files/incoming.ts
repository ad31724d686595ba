import { TooLarge } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { type Bytes, UNLIMITED } from '../base/units.ts'
import { LEASE, type Ledger, type Reservation } from './quota-ledger.ts'

export interface Incoming {
  /** The size if the sender declared it; `bytes` then yields exactly so many or fails. */
  readonly declaredSize: Bytes | undefined
  /** Called once the file may come in. Nothing has been asked of the sender before. */
  readonly open: () => AsyncIterable<Uint8Array>
  readonly signal: AbortSignal
}

export interface FilesOptions {
  /** -1: no limit. Holds with quota off as well (interface 8). */
  readonly maxFileSize: Bytes
}

/** @throws {TooLarge} `file-too-large` */
export function requireFileSize({ maxFileSize }: FilesOptions, size: Bytes): void {
  // Beyond it numbers are no longer exact, and neither would the books be.
  const limit = maxFileSize === UNLIMITED ? Number.MAX_SAFE_INTEGER : maxFileSize
  if (size <= limit) return
  throw new TooLarge('file-too-large', `A file may have at most ${limit} bytes.`, { extra: { limit } })
}

/** Renews a reservation until the timer is cleared. */
export function keepAlive(ledger: Ledger, log: Log, reservation: Reservation): NodeJS.Timeout {
  const renew = (): void => {
    ledger.renew(reservation).catch((error: unknown) => log.warn({ err: error }, 'renewing a lease failed'))
  }
  return setInterval(renew, LEASE / 3).unref()
}
