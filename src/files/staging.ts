import { StoreUnavailable, TooLarge } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { type Bytes, UNLIMITED } from '../base/units.ts'
import { type BlobStore, newBlobKey } from '../stores/blob-store.ts'
import type { Database } from '../stores/database.ts'
import { type FilePlace, type FileRecord, isFile } from './file-records.ts'
import type { FileScanner, Sender } from './file-scanner.ts'
import type { Garbage } from './garbage.ts'
import { type Ledger, type NewReservation, type Reservation, RESERVATION_TTL } from './quota-ledger.ts'
import type { ReachedThreshold } from './quota-thresholds.ts'
import type { Payers } from './quota-usage.ts'

export interface Incoming {
  /** The size, if the sender declared it; `bytes` then yields exactly that many or throws. */
  readonly declaredSize: Bytes | undefined
  /** Called once the file is accepted. Nothing has been requested from the sender before. */
  readonly open: () => AsyncIterable<Uint8Array>
  readonly signal: AbortSignal
  /** Absent where no user sends the bytes. */
  readonly sender?: Sender
}

/** Imports of archives keep to them too. Features set `scanner` and `onThreshold` when they are opened. */
export interface FilesOptions {
  /** -1: no limit. Also applies when quotas are off (I8). */
  readonly maxFileSize: Bytes
  /** Whole files are compared with their digest while they are read. */
  readonly verifyOnRead?: boolean
  /** Rejects bytes for which the disk has no space. @throws {StorageFull} @throws {StorageReadOnly} */
  readonly requireSpace?: ((bytes: Bytes) => void) | undefined
  /** Absent: nothing is scanned. */
  scanner?: FileScanner | undefined
  /** Called after the commit for each owner that reaches a threshold of its quota ({@link reachedThreshold}). Must not reject. */
  onThreshold?: (reached: ReachedThreshold) => Promise<void>
}

/** How much is reserved at a time for an upload of unknown size. */
const STEP: Bytes = 1_048_576

/** An upload on its way to its place. */
interface Arriving {
  /** Without an id while the entry does not exist yet. */
  readonly place: Payers & Partial<FilePlace>
  readonly replaced: FileRecord | undefined
  readonly incoming: Incoming
}

/** Bytes that are stored, and that no entry has yet. */
export interface StagedFile {
  readonly file: FileRecord
  readonly payers: Payers
  readonly reservation: Reservation
  readonly heartbeat: NodeJS.Timeout
}

interface Dependencies {
  readonly database: Database
  readonly blobs: BlobStore
  readonly ledger: Ledger
  readonly garbage: Garbage
  readonly random: (count: number) => Uint8Array
  readonly log: Log
  readonly options: FilesOptions
}

/** Stores bytes within the quota before an entry gets them. */
export class Staging {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * Reserves storage, writes the bytes, and has them scanned; undoes everything on failure. Otherwise {@link end} must follow, after
   * {@link undo} if no entry got the bytes.
   * @throws {TooLarge} `file-too-large` or `quota-exceeded`
   */
  async stage({ place, replaced, incoming }: Arriving): Promise<StagedFile> {
    const { blobs, ledger, log, options, random } = this.#deps
    const { context, user, id: entry } = place
    const { declaredSize, signal, sender } = incoming
    if (declaredSize !== undefined) requireFileSize(options, declaredSize)
    options.requireSpace?.(declaredSize ?? 0)
    const blob = newBlobKey(random)
    const payers = { context, user }
    const reservation = await ledger.reserve(payers, blob, declaredSize ?? 0, replaced)
    const heartbeat = keepAlive(ledger, log, reservation)
    try {
      const bytes = this.#metered(incoming.open(), reservation)
      const stored = await blobs.write(blob, bytes, signal)
      const file = { blob, ...stored }
      await options.scanner?.require({ ...file, context, entry, sender, signal })
      return { file, payers, reservation, heartbeat }
    } catch (error) {
      clearInterval(heartbeat)
      await this.undo({ reservation }, error)
      throw error
    }
  }

  /** Lets the reservation expire. */
  end({ heartbeat }: StagedFile): void {
    clearInterval(heartbeat)
  }

  /**
   * Deletes the bytes, and cancels their reservation. If this fails too, the reservation expires and garbage collection removes it. If the commit succeeded and only its
   * response was lost, the reservation has ended: the bytes belong to a file and stay.
   */
  async undo({ reservation }: Pick<StagedFile, 'reservation'>, reason: unknown): Promise<void> {
    const { database, garbage, ledger, log } = this.#deps
    const { blob } = reservation
    try {
      const isCancelled = await ledger.cancel(reservation)
      if (!isCancelled && (await isFile(database, blob))) return
      // Bytes still on their way to an unresponsive server arrive later, so the blob is recorded as garbage.
      if (!isCancelled || !(reason instanceof StoreUnavailable)) await garbage.delete(blob)
    } catch (error) {
      log.error({ err: error }, 'undoing an upload failed; it will be undone later')
    }
  }

  /** Passes the bytes on while they fit. If the size is unknown, reserves more storage in advance. */
  async *#metered(bytes: AsyncIterable<Uint8Array>, reservation: NewReservation): AsyncGenerator<Uint8Array> {
    let { covered } = reservation
    let taken = 0
    for await (const chunk of bytes) {
      taken += chunk.length
      requireFileSize(this.#deps.options, taken)
      if (taken > covered)
        covered += await this.#deps.ledger.grow(reservation, taken - covered, Math.max(taken - covered, STEP))
      yield chunk
    }
  }
}

/** @throws {TooLarge} `file-too-large`, `too-large-to-scan` */
export function requireFileSize({ maxFileSize, scanner }: FilesOptions, size: Bytes): void {
  // Larger numbers are not exact, so usage would be wrong.
  const limit = maxFileSize === UNLIMITED ? Number.MAX_SAFE_INTEGER : maxFileSize
  if (size <= limit) return scanner?.requireScannable(size)
  throw new TooLarge('file-too-large', `A file may have at most ${limit} bytes.`, { extra: { limit } })
}

/** Renews a reservation until the timer is cleared. */
export function keepAlive(ledger: Ledger, log: Log, reservation: Reservation): NodeJS.Timeout {
  const renew = (): void => {
    ledger.renew(reservation).catch((error: unknown) => log.warn({ err: error }, 'renewing a reservation failed'))
  }
  return setInterval(renew, RESERVATION_TTL / 3).unref()
}
