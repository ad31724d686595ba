import { TooLarge } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { type Bytes, UNLIMITED } from '../base/units.ts'
import { reachedThreshold } from './storage-usage.ts'
import { RESERVATION_TTL, type Ledger, type Quota, type Reservation } from './quota-ledger.ts'

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
  /** Whole files are compared with their digest while they are read. */
  readonly verifyOnRead?: boolean
  /** Refuses bytes that the disk has no space for. @throws {StorageFull} @throws {StorageReadOnly} */
  readonly requireSpace?: (bytes: Bytes) => void
  /** A context has come to a threshold of its quota ({@link reachedThreshold}); told after the commit. May not reject. */
  readonly onThreshold?: (reached: ReachedThreshold) => Promise<void>
}

export interface ReachedThreshold {
  readonly context: string
  readonly percent: number
  readonly quota: Bytes
  readonly fillLevel: Bytes
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
  return setInterval(renew, RESERVATION_TTL / 3).unref()
}

/** Tells, once the growth is committed, of the threshold that it has reached, if any. */
export async function reportGrowth(
  { onThreshold }: FilesOptions,
  ledger: Ledger,
  context: string,
  { quota: { quota, fillLevel }, growth }: { readonly quota: Quota; readonly growth: Bytes },
): Promise<void> {
  const percent = ledger.enforced ? reachedThreshold({ quota, fillLevel }, growth) : undefined
  if (percent !== undefined) await onThreshold?.({ context, percent, quota, fillLevel })
}
