import { TooLarge } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { System } from '../../base/system.ts'
import { type Bytes, UNLIMITED } from '../../base/units.ts'
import { type BlobStore, newBlobKey } from '../../stores/blob-store.ts'
import type { Database, Queries } from '../../stores/database.ts'
import {
  amountOfFiles,
  assignUsers,
  discardBlob,
  type FileRecord,
  filesOf,
  isFile,
  removeFilesOf,
} from '../../files/file-records.ts'
import type { Garbage } from '../../files/garbage.ts'
import { type Files, reportThresholds } from '../../files/files.ts'
import { type Incoming, keepAlive, requireFileSize } from '../../files/staging.ts'
import { type Ledger, quotaObject, type Reservation } from '../../files/quota-ledger.ts'
import type { UsageChange } from '../../files/quota-thresholds.ts'
import type { RandomAccess } from '../../files/zip.ts'

/** A received archive, and the files from it that will replace all files of a context, or the files of some entries. */
export interface StagedImport {
  readonly archive: RandomAccess
  /**
   * Reserves storage for files of these sizes, less the storage of the files that they replace.
   * @throws {TooLarge} `file-too-large` or `quota-exceeded`
   */
  reserve(files: { readonly count: number; readonly total: Bytes; readonly largest: Bytes }): Promise<void>
  /** Stores one file and has it scanned. It is not visible before {@link replaceFiles} has been committed. */
  stage(bytes: AsyncIterable<Uint8Array>): Promise<FileRecord>
  /**
   * Removes the records of the replaced files and counts the staged files in their place; `insert` inserts the new entries and records.
   * Runs in the transaction that makes the new files visible. @throws {TooLarge} `quota-exceeded`
   */
  replaceFiles<T>(tx: Queries, insert: () => Promise<T>): Promise<T>
}

interface Dependencies {
  readonly database: Database
  readonly blobs: BlobStore
  readonly files: Pick<Files, 'options'>
  readonly ledger: Ledger
  readonly garbage: Garbage
  readonly system: System
  readonly log: Log
}

/**
 * The maximum size of an archive beyond the bytes of its files: descriptions of entries, which no quota
 * counts. With a quota, an archive is at most this much larger than the quota (D20.1).
 */
const MAX_DESCRIPTIONS: Bytes = 2 ** 28

/** Replaces all files of a context at once, under its quota, as one upload of many parts (D7.3, D7.5). */
export class StagedImports {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * Stores the archive outside the quota and passes it to `work`. If `work` rejects, the request is aborted or the process
   * crashes, nothing of it remains and no storage stays reserved.
   * @param replaced ids of the entries whose files are replaced; by default all of the context
   * @throws {Conflict} while another import into the context is in progress
   * @throws {TooLarge} `quota-exceeded` when the archive is far larger than the context may become
   */
  async receive<T>(
    context: string,
    incoming: Incoming,
    work: (staged: StagedImport) => Promise<T>,
    replaced?: readonly string[],
  ): Promise<T> {
    const { blobs, ledger, garbage, log } = this.#deps
    const { options } = this.#deps.files
    const key = this.#newKey()
    const written = [key]
    const total = { bytes: 0, files: 0 }
    options.requireSpace?.(incoming.declaredSize ?? 0)
    const limit = await this.#archiveLimit(context, incoming.declaredSize)
    const reservation = await ledger.reserveImport(context, key)
    let changes: readonly UsageChange[] = []
    const heartbeat = keepAlive(ledger, log, reservation)
    try {
      const { size } = await blobs.write(key, limited(incoming.open(), limit), incoming.signal)
      const result = await work({
        archive: { size, read: range => blobs.read(key, range) },
        reserve: async files => {
          requireFileSize(options, files.largest)
          const present = await amountOfFiles(this.#deps.database, context, replaced)
          await ledger.growImport(reservation, {
            bytes: files.total - present.bytes,
            files: files.count - present.files,
          })
        },
        stage: async bytes => {
          const blob = this.#newKey()
          await ledger.addBlob(reservation, blob)
          written.push(blob)
          const { signal, sender } = incoming
          const file = { blob, ...(await blobs.write(blob, bytes, signal)) }
          await options.scanner?.require({ ...file, context, sender, signal })
          total.bytes += file.size
          total.files++
          return file
        },
        replaceFiles: async (tx, insert) => {
          incoming.signal.throwIfAborted()
          const present = await amountOfFiles(tx, context, replaced)
          const amount = { bytes: total.bytes - present.bytes, files: total.files - present.files }
          const ofContext = await ledger.commit(tx, reservation, amount)
          const before = await ledger.usersOf(tx, context)
          await removeFilesOf(tx, context, replaced)
          await discardBlob(tx, key)
          const result = await insert()
          await assignUsers(tx, filesOf(context))
          changes = [...ofContext, ...(await ledger.recountUsers(tx, context, before))]
          return result
        },
      })
      await reportThresholds(options, ledger, changes)
      return result
    } catch (error) {
      await this.#undo(reservation, written).catch((error: unknown) =>
        log.error({ err: error }, 'undoing an import failed; it will be undone later'),
      )
      throw error
    } finally {
      clearInterval(heartbeat)
      await garbage.collect().catch((error: unknown) => log.error({ err: error }, 'deleting old files failed'))
    }
  }

  /** @returns a function that refuses more bytes than the archive may have; any number for a context that does not exist yet */
  async #archiveLimit(context: string, declaredSize: Bytes = 0): Promise<(size: Bytes) => void> {
    const { database, ledger } = this.#deps
    const usage = ledger.enforced ? await ledger.usage.find(database, { kind: 'context', id: context }) : undefined
    if (!usage) return () => {}
    const { quota, fillLevel } = quotaObject(usage)
    const limit = quota === UNLIMITED ? Number.MAX_SAFE_INTEGER : Math.max(quota, fillLevel) + MAX_DESCRIPTIONS
    const requireSize = (size: Bytes): void => {
      if (size <= limit) return
      const detail = `The context has a quota of ${quota} bytes: an archive for it may have at most ${limit} bytes.`
      throw new TooLarge('quota-exceeded', detail, { extra: { quota, fillLevel, needed: size } })
    }
    requireSize(declaredSize)
    return requireSize
  }

  /** Deletes what was written. If the reservation has ended already, by its commit or because it expired, blobs of visible files stay. */
  async #undo(reservation: Reservation, written: readonly string[]): Promise<void> {
    const { database, ledger, garbage } = this.#deps
    if (await ledger.cancel(reservation)) return
    for (const blob of written) if (!(await isFile(database, blob))) await garbage.delete(blob)
  }

  #newKey(): string {
    return newBlobKey(count => this.#deps.system.randomBytes(count))
  }
}

async function* limited(
  bytes: AsyncIterable<Uint8Array>,
  requireSize: (size: Bytes) => void,
): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of bytes) {
    size += chunk.length
    requireSize(size)
    yield chunk
  }
}
