import { TooLarge } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { type Bytes, UNLIMITED } from '../base/units.ts'
import { reachedThreshold } from './storage-usage.ts'
import { RESERVATION_TTL, type Ledger, type Quota, type Reservation } from './quota-ledger.ts'

export interface Incoming {
  /** The size, if the sender declared it; `bytes` then yields exactly that many or throws. */
  readonly declaredSize: Bytes | undefined
  /** Called once the file is accepted. Nothing has been requested from the sender before. */
  readonly open: () => AsyncIterable<Uint8Array>
  readonly signal: AbortSignal
}

export interface FilesOptions {
  /** -1: no limit. Also applies when quotas are off (I8). */
  readonly maxFileSize: Bytes
  /** Whole files are compared with their digest while they are read. */
  readonly verifyOnRead?: boolean
  /** Rejects bytes for which the disk has no space. @throws {StorageFull} @throws {StorageReadOnly} */
  readonly requireSpace?: (bytes: Bytes) => void
  /** Called after the commit when a context reaches a threshold of its quota ({@link reachedThreshold}). Must not reject. */
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
  // Larger numbers are not exact, so usage would be wrong.
  const limit = maxFileSize === UNLIMITED ? Number.MAX_SAFE_INTEGER : maxFileSize
  if (size <= limit) return
  throw new TooLarge('file-too-large', `A file may have at most ${limit} bytes.`, { extra: { limit } })
}

/** Renews a reservation until the timer is cleared. */
export function keepAlive(ledger: Ledger, log: Log, reservation: Reservation): NodeJS.Timeout {
  const renew = (): void => {
    ledger.renew(reservation).catch((error: unknown) => log.warn({ err: error }, 'renewing a reservation failed'))
  }
  return setInterval(renew, RESERVATION_TTL / 3).unref()
}

/** After the growth is committed, reports the threshold that it reached, if any. */
export async function reportGrowth(
  { onThreshold }: FilesOptions,
  ledger: Ledger,
  context: string,
  { quota: { quota, fillLevel }, growth }: { readonly quota: Quota; readonly growth: Bytes },
): Promise<void> {
  const percent = ledger.enforced ? reachedThreshold({ quota, fillLevel }, growth) : undefined
  if (percent !== undefined) await onThreshold?.({ context, percent, quota, fillLevel })
}
