import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import type { Audit } from '../../accounts/audit.ts'
import { type Caller, requireSuperUser, shareOf } from '../../accounts/caller.ts'
import { InvalidInput, Overloaded } from '../../base/errors.ts'
import type { System } from '../../base/system.ts'
import type { Bytes } from '../../base/units.ts'
import type { Files } from '../../files/files.ts'
import type { FileRecord } from '../../files/file-records.ts'
import { writeZip, type ZipMember } from '../../files/zip-writer.ts'
import type { Database } from '../../stores/database.ts'
import { CONTEXTS, PRINCIPALS } from '../../model/addresses.ts'
import { getContext, lastNumberOf } from '../contexts.ts'
import { beginning, type Page, type PageTask, type Part } from './export-page.ts'
import {
  batchName,
  fileName,
  FORMAT,
  type Line,
  type Manifest,
  MANIFEST,
  type PrincipalLine,
  SUMMARY,
  type Summary,
  VERSION,
} from './format.ts'

const PIECE: Bytes = 65_536

/** Reads a page of an export, on another thread. @throws {Overloaded} */
export type ReadPage = (task: PageTask, caller: Caller, signal: AbortSignal) => Promise<Page>

interface Dependencies {
  readonly database: Database
  readonly files: Files
  readonly system: System
  readonly audit: Audit
  readonly readPage: ReadPage
}

export interface ExportOptions {
  /** True to leave out the files. */
  readonly metadataOnly: boolean
  /** The address of the service. */
  readonly base: string
  /** Ends the export when the client has left. */
  readonly signal: AbortSignal
}

/** Exports a context as an archive (W3.16). */
export class ContextExport {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * Returns the archive as a stream, which is produced while it is read: the next page is read when the previous one has been
   * written. Each entry and its file are from the same moment, but different entries may be from different moments unless no one
   * writes meanwhile. @throws {NotFound} @throws {Unauthenticated | Forbidden} @throws {Overloaded}
   */
  async export(
    caller: Caller,
    contextKey: string,
    options: ExportOptions,
  ): Promise<{ context: string; open: () => Readable }> {
    const { context } = await getContext(this.#deps.database, contextKey)
    requireSuperUser(caller, 'export a context')
    requireOrdinary(context.id)
    const task = { context: context.id, metadataOnly: options.metadataOnly, from: beginning }
    const first = await this.#deps.readPage(task, caller, options.signal)
    const detail = { context: context.id }
    const { user, client } = caller
    await this.#deps.audit.record({ event: 'context-exported', actorId: user.id, address: client.address, detail })
    const time = new Date(this.#deps.system.now())
    const pages = this.#pages(task, first, caller, options.signal)
    return { context: context.id, open: () => writeZip(this.#members(task, pages, options.base, time), time) }
  }

  async *#members(
    { context, metadataOnly }: PageTask,
    pages: AsyncIterable<WholePart>,
    base: string,
    time: Date,
  ): AsyncGenerator<ZipMember> {
    const manifest: Manifest = {
      format: FORMAT,
      version: VERSION,
      base,
      context,
      exported: time.toISOString(),
      metadataOnly,
      lastNumber: await lastNumberOf(this.#deps.database, context),
    }
    yield member(MANIFEST, jsonLine(manifest))
    const summary = { entries: 0, revisions: 0, files: 0, bytes: 0 }
    const written = new Set<string>()
    let number = 0
    for await (const { entries, revisions, principals, lines, file } of pages) {
      const known = principals.filter(({ id }) => !written.has(id) && written.add(id))
      const principalLines = known.map(principal => jsonLine({ principal } satisfies Line))
      yield member(batchName(++number), ...principalLines, lines)
      summary.entries += entries
      summary.revisions += revisions
      if (!file) continue
      summary.files++
      summary.bytes += file.size
      yield { name: fileName(file.entry), isDeflated: false, bytes: file.bytes }
    }
    yield member(SUMMARY, jsonLine(summary satisfies Summary))
  }

  /** Yields the parts of all pages one after the other, each with its opened file. */
  async *#pages(task: PageTask, first: Page, caller: Caller, signal: AbortSignal): AsyncGenerator<WholePart> {
    let previous: ArrayBuffer | undefined
    for (let page = first; ; ) {
      let from = page.next
      let begin = 0
      for (const part of page.parts) {
        const bytes = part.file && (await this.#open(task.context, part.file, shareOf(caller)))
        // The file has been replaced meanwhile: its entry is read again.
        if (part.file && !bytes) {
          from = part.from
          break
        }
        const { principals } = page
        const lines = page.bytes.subarray(begin, part.end)
        try {
          yield { ...part, principals, lines, file: part.file && bytes && { ...part.file, bytes } }
        } finally {
          bytes?.destroy()
        }
        begin = part.end
      }
      if (!from) return
      // Once the zip has read from this page, it no longer needs the one before it.
      const memory = begin > 0 ? previous : undefined
      previous = page.bytes.buffer
      page = await this.#next({ ...task, from, memory }, caller, signal)
    }
  }

  /** An archive that has begun waits for its turn, because it cannot be refused any more. */
  async #next(next: PageTask, caller: Caller, signal: AbortSignal): Promise<Page> {
    for (let task = next; ; ) {
      try {
        return await this.#deps.readPage(task, caller, signal)
      } catch (error) {
        if (!(error instanceof Overloaded)) throw error
        await setTimeout(error.retryAfter * 1000, undefined, { signal })
        // It may have been moved already.
        task = { ...next, memory: undefined }
      }
    }
  }

  /** Returns `undefined` when the entry no longer has this file. */
  async #open(context: string, { entry, blob }: { readonly entry: string; readonly blob: string }, reader: string) {
    const isSame = (file: FileRecord): 'all' | undefined => (file.blob === blob ? 'all' : undefined)
    return (await this.#deps.files.read({ context, id: entry }, isSame, { reader }))?.bytes
  }
}

/** A part of a page, with its opened file. */
interface WholePart extends Pick<Part, 'entries' | 'revisions'> {
  readonly principals: readonly PrincipalLine[]
  readonly lines: Uint8Array
  readonly file: (FileRecord & { readonly entry: string; readonly bytes: Readable }) | undefined
}

/** Rejects system contexts: users, groups and contexts belong to the store they are in. @throws {InvalidInput} */
export function requireOrdinary(context: string): void {
  if (context !== CONTEXTS && context !== PRINCIPALS) return
  throw new InvalidInput('invalid-type', 'System contexts are neither exported nor imported.')
}

const jsonLine = (value: unknown): Uint8Array => Buffer.from(`${JSON.stringify(value)}\n`)

const member = (name: string, ...lines: readonly Uint8Array[]): ZipMember => ({
  name,
  isDeflated: true,
  bytes: Readable.from(pieces(lines), { objectMode: false }),
})

/** In small pieces, so that other requests get their turn between them. */
function* pieces(lines: readonly Uint8Array[]): Generator<Uint8Array> {
  for (const line of lines) for (let at = 0; at < line.length; at += PIECE) yield line.subarray(at, at + PIECE)
}
