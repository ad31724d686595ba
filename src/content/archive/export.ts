import { Readable } from 'node:stream'
import type { Audit } from '../../accounts/audit.ts'
import { type Caller, requireSuperUser } from '../../accounts/caller.ts'
import { findGroup } from '../../accounts/groups.ts'
import { findUser } from '../../accounts/users.ts'
import { InvalidInput } from '../../base/errors.ts'
import type { System } from '../../base/system.ts'
import { Turns } from '../../base/concurrency.ts'
import type { Bytes } from '../../base/units.ts'
import type { Files } from '../../files/files.ts'
import type { FileRecord } from '../../files/file-records.ts'
import { writeZip, type ZipMember } from '../../files/zip-writer.ts'
import type { Database } from '../../stores/database.ts'
import { CONTEXTS, PRINCIPALS } from '../../model/addresses.ts'
import { getContext, lastNumberOf } from '../contexts.ts'
import { type Entry, holdsFile } from '../../model/entry.ts'
import { findEntry, idsAfter } from '../entry-records.ts'
import { membershipOf } from '../list-records.ts'
import { findRevision } from '../revisions.ts'
import {
  batchName,
  fileName,
  FORMAT,
  type Line,
  type Manifest,
  MANIFEST,
  type OutsideForm,
  SUMMARY,
  type Summary,
  VERSION,
} from './format.ts'
import { describeEntry, describeRevision } from './lines.ts'
import { principalsIn } from './principals.ts'

interface Dependencies {
  readonly database: Database
  readonly files: Files
  readonly system: System
  readonly audit: Audit
}

export interface ExportOptions {
  /** True to leave out the files. */
  readonly metadataOnly: boolean
  readonly form: OutsideForm
}

/** Descriptions are collected up to this size before they are written. */
const BATCH: Bytes = 1_048_576
const IDS = 500

/** Exports a context as an archive (W3.16). */
export class ContextExport {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * Returns the archive as a stream, which is produced while it is read. Each entry and its file are from the same moment,
   * but different entries may be from different moments unless no one writes meanwhile. @throws {NotFound} @throws
   * {Unauthenticated | Forbidden}
   */
  async export(
    caller: Caller,
    contextKey: string,
    options: ExportOptions,
  ): Promise<{ context: string; open: () => Readable }> {
    const { context } = await getContext(this.#deps.database, contextKey)
    requireSuperUser(caller, 'export a context')
    requireOrdinary(context.id)
    const detail = { context: context.id }
    const { user, client } = caller
    await this.#deps.audit.record({ event: 'context-exported', actorId: user.id, address: client.address, detail })
    const time = new Date(this.#deps.system.now())
    return { context: context.id, open: () => writeZip(this.#members(context.id, options, time), time) }
  }

  async *#members(context: string, options: ExportOptions, time: Date): AsyncGenerator<ZipMember> {
    const { database } = this.#deps
    const manifest: Manifest = {
      format: FORMAT,
      version: VERSION,
      base: options.form.href,
      context,
      exported: time.toISOString(),
      metadataOnly: options.metadataOnly,
      lastNumber: await lastNumberOf(database, context),
    }
    yield json(MANIFEST, manifest)
    const summary = { entries: 0, revisions: 0, files: 0, bytes: 0 }
    const batch = new Batch()
    const turns = new Turns()
    const principals = new Set<string>()
    for await (const { entry, found } of this.#entries(context, options)) {
      try {
        summary.entries++
        for (const line of await this.#principalLines(principals, principalsIn(entry))) batch.add(line)
        const list = await membershipOf(database, entry)
        await turns.after(batch.add({ entry: describeEntry(entry, { list, file: found?.file }, options.form) }))
        if (found) {
          summary.files++
          summary.bytes += found.file.size
          yield* batch.flush()
          yield { name: fileName(entry.id), isDeflated: false, bytes: found.bytes }
        }
        for (let number = 1; ; number++) {
          const revision = await findRevision(database, entry, number)
          if (!revision) break
          summary.revisions++
          for (const line of await this.#principalLines(principals, [revision.author])) batch.add(line)
          await turns.after(batch.add({ revision: describeRevision(entry.id, revision, options.form) }))
          if (batch.isFull) yield* batch.flush()
        }
        if (batch.isFull) yield* batch.flush()
      } finally {
        found?.bytes.destroy()
      }
    }
    yield* batch.flush()
    yield json(SUMMARY, summary satisfies Summary)
  }

  /** Yields the entries one after the other, each with its opened file. */
  async *#entries(
    context: string,
    options: ExportOptions,
  ): AsyncGenerator<{ readonly entry: Entry; readonly found: OpenFile | undefined }> {
    let last = ''
    for (;;) {
      const ids = await idsAfter(this.#deps.database, { context, id: last }, IDS)
      for (const id of ids) {
        const opened = await this.#open(context, id, options)
        if (opened) yield opened
      }
      const next = ids.at(-1)
      if (next === undefined) return
      last = next
    }
  }

  /** Returns `undefined` when the entry has been deleted meanwhile. */
  async #open(context: string, id: string, { metadataOnly }: ExportOptions) {
    const { database, files } = this.#deps
    for (;;) {
      const entry = await findEntry(database, { context, id })
      if (!entry || metadataOnly || !holdsFile(entry)) return entry && { entry, found: undefined }
      const found = await files.read(entry, () => 'all')
      const now = await findEntry(database, entry)
      const { bytes } = found ?? {}
      // An upload changes the modification time of its entry. The same time before and after means that entry and file
      // belong together.
      if (now?.modified === entry.modified) return { entry, found: found && bytes && { file: found.file, bytes } }
      bytes?.destroy()
    }
  }

  /** Lines for principals not written yet; deleted principals are skipped. */
  async #principalLines(told: Set<string>, ids: Iterable<string>): Promise<Line[]> {
    const lines: Line[] = []
    for (const id of ids) {
      if (told.has(id)) continue
      told.add(id)
      const user = await findUser(this.#deps.database, id)
      const group = user ? undefined : await findGroup(this.#deps.database, id)
      if (user) lines.push({ principal: { id, kind: 'user', name: user.name } })
      else if (group) lines.push({ principal: { id, kind: 'group', name: group.name } })
    }
    return lines
  }
}

interface OpenFile {
  readonly file: FileRecord
  readonly bytes: Readable
}

/** Rejects system contexts: users, groups and contexts belong to the store they are in. @throws {InvalidInput} */
export function requireOrdinary(context: string): void {
  if (context !== CONTEXTS && context !== PRINCIPALS) return
  throw new InvalidInput('invalid-type', 'System contexts are neither exported nor imported.')
}

const json = (name: string, value: unknown): ZipMember => ({
  name,
  isDeflated: true,
  bytes: Readable.from([Buffer.from(`${JSON.stringify(value)}\n`)]),
})

/** Lines that wait to be written into the next member. */
class Batch {
  #lines: Buffer[] = []
  #size: Bytes = 0
  #number = 0

  get isFull(): boolean {
    return this.#size >= BATCH
  }

  /** Returns the size of the line. */
  add(line: Line): Bytes {
    const bytes = Buffer.from(`${JSON.stringify(line)}\n`)
    this.#lines.push(bytes)
    this.#size += bytes.length
    return bytes.length
  }

  *flush(): Generator<ZipMember> {
    if (this.#size === 0) return
    const bytes = Readable.from([Buffer.concat(this.#lines)], { objectMode: false })
    this.#lines = []
    this.#size = 0
    this.#number++
    yield { name: batchName(this.#number), isDeflated: true, bytes }
  }
}
