import type { Log } from '../base/log.ts'
import type { System } from '../base/system.ts'
import type { Bytes } from '../base/units.ts'
import { type BlobStore, newBlobKey } from '../stores/blob-store.ts'
import type { Database, Queries } from '../stores/database.ts'
import { sql } from '../stores/sql.ts'
import { discardBlob, type FileRecord, isFile, removeFilesOf } from './file-records.ts'
import type { Garbage } from './garbage.ts'
import { type FilesOptions, type Incoming, keepAlive, reportGrowth, requireFileSize } from './incoming.ts'
import type { Ledger, Quota, Reservation } from './quota-ledger.ts'
import type { RandomAccess } from './zip-reader.ts'

/** An archive that has come in, and the files out of it that are to take the place of all files of a context. */
export interface StagedImport {
  readonly archive: RandomAccess
  /**
   * Holds room for these sizes, less what the present files give back.
   * @throws {TooLarge} `file-too-large` or `quota-exceeded`
   */
  reserve(files: { readonly total: Bytes; readonly largest: Bytes }): Promise<void>
  /** Takes in one of them; nobody sees it yet. */
  store(bytes: AsyncIterable<Uint8Array>): Promise<FileRecord>
  /**
   * Books the stored files in place of the present ones, whose records go; the caller writes the new records. Part of the
   * one transaction that makes them visible. @throws {TooLarge} `quota-exceeded`
   */
  replaceFiles(tx: Queries): Promise<void>
}

interface Dependencies {
  readonly database: Database
  readonly blobs: BlobStore
  readonly ledger: Ledger
  readonly garbage: Garbage
  readonly system: System
  readonly log: Log
}

/** Bringing in all files of a context at once, under the quota, as one upload of many parts (D7.3, D7.5). */
export class StagedImports {
  readonly #deps: Dependencies
  readonly #options: FilesOptions

  constructor(deps: Dependencies, options: FilesOptions) {
    this.#deps = deps
    this.#options = options
  }

  /**
   * Puts the archive aside on the disk, which holds no room of the context, and hands it to `work`. When `work` rejects, as
   * on every abort and crash, nothing of it remains, and no room is lost.
   */
  async receive<T>(context: string, incoming: Incoming, work: (staged: StagedImport) => Promise<T>): Promise<T> {
    const { blobs, ledger, garbage, log } = this.#deps
    const key = this.#newKey()
    const written = [key]
    let total: Bytes = 0
    const reservation = await ledger.reserve(context, key, 0)
    const heartbeat = keepAlive(ledger, log, reservation)
    try {
      const { size } = await blobs.write(key, incoming.open(), incoming.signal)
      let committed: { readonly quota: Quota; readonly growth: Bytes } | undefined
      const result = await work({
        archive: { size, read: range => blobs.read(key, range) },
        reserve: async files => {
          requireFileSize(this.#options, files.largest)
          const growth = files.total - (await sizeOfFiles(this.#deps.database, context))
          if (growth > 0) await ledger.grow(reservation, growth, growth)
        },
        store: async bytes => {
          const blob = this.#newKey()
          await ledger.addPart(reservation, blob)
          written.push(blob)
          const file = { blob, ...(await blobs.write(blob, bytes, incoming.signal)) }
          total += file.size
          return file
        },
        replaceFiles: async tx => {
          incoming.signal.throwIfAborted()
          const growth = total - (await sizeOfFiles(tx, context))
          committed = { quota: await ledger.commit(tx, reservation, growth), growth }
          await removeFilesOf(tx, context)
          await discardBlob(tx, key)
        },
      })
      if (committed) await reportGrowth(this.#options, ledger, context, committed)
      return result
    } catch (error) {
      await this.#letGo(reservation, written).catch((error: unknown) =>
        log.error({ err: error }, 'undoing an import failed; it will be undone later'),
      )
      throw error
    } finally {
      clearInterval(heartbeat)
      await garbage.collect().catch((error: unknown) => log.error({ err: error }, 'deleting old files failed'))
    }
  }

  /** Where the reservation has ended already, by the commit or by its lease, only what has become a file stays. */
  async #letGo(reservation: Reservation, written: readonly string[]): Promise<void> {
    const { database, ledger, garbage } = this.#deps
    if (await ledger.cancel(reservation)) return
    for (const blob of written) if (!(await isFile(database, blob))) await garbage.delete(blob)
  }

  #newKey(): string {
    return newBlobKey(count => this.#deps.system.randomBytes(count))
  }
}

async function sizeOfFiles(queries: Queries, context: string): Promise<Bytes> {
  const row = await queries.get<{ total: number }>(
    sql`SELECT COALESCE(SUM(size), 0) AS total FROM files WHERE context = ${context}`,
  )
  return row?.total ?? 0
}
