import { Readable } from 'node:stream'
import type { Audit } from '../../accounts/audit.ts'
import { requireSuperUser } from '../../accounts/caller-guards.ts'
import type { Caller } from '../../accounts/caller.ts'
import { presentCaller } from '../../accounts/present-caller.ts'
import { findGroup } from '../../accounts/groups.ts'
import { findUser } from '../../accounts/users.ts'
import { InvalidInput } from '../../base/errors.ts'
import type { System } from '../../base/system.ts'
import type { Bytes } from '../../base/units.ts'
import type { FileRecord } from '../../files/file-records.ts'
import type { Files } from '../../files/files.ts'
import { writeZip, type ZipMember } from '../../files/zip.ts'
import { CONTEXTS, PRINCIPALS, principalUri } from '../../model/addresses.ts'
import { type Entry, holdsFile, holdsGraph, mapAcl } from '../../model/entry.ts'
import type { Database, Queries } from '../../stores/database.ts'
import { getContext, lastNumberOf } from '../../content/contexts.ts'
import { entryFromRow } from '../../content/entry-columns.ts'
import { type ExportRow, findNextRow } from '../../content/entry-records.ts'
import { type Membership, membershipFromRow } from '../../content/list-records.ts'
import { findRevision, type Revision } from '../../content/revisions.ts'
import {
  batchName,
  type EntryLine,
  type FileLine,
  fileName,
  FORMAT,
  type IriForms,
  type Line,
  type Manifest,
  MANIFEST,
  type PrincipalLine,
  type RevisionLine,
  SUMMARY,
  type Summary,
  VERSION,
} from './format.ts'
import { principalsIn } from './principals.ts'
import { ContextTriples, PROPERTIES, resourceName, textStream, TRIPLES } from './triples.ts'
import { parseGraph } from '../../graph/graph.ts'

const PIECE: Bytes = 65_536
/** A batch ends after this many characters, or after the line that exceeds them. */
const MAX_BATCH = 262_144

interface Dependencies {
  readonly database: Database
  readonly files: Files
  readonly system: System
  readonly audit: Audit
}

interface ExportOptions {
  /** True to leave out the files. */
  readonly metadataOnly: boolean
  /** The address of the service, and the absolute form of IRIs. */
  readonly form: IriForms
  /** Ids of the entries; by default all. */
  readonly only?: ReadonlySet<string> | undefined
  /** With the statements in the form of EntryStore as well. */
  readonly withTriples?: boolean
}

interface TriplesOptions {
  /** Leaves out files, and everything but metadata. */
  readonly metadataOnly: boolean
  readonly form: IriForms
  /** Media type of the statements, one of `documentTypes`. */
  readonly type: string
}

/** Exports a context as an archive (W3.16). */
export class ContextExport {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * Returns the archive as a stream, which is produced while it is read. Each entry and its file are from the same moment, but
   * different entries may be from different moments unless no one writes meanwhile. @throws {NotFound}
   * @throws {Unauthenticated | Forbidden}
   */
  async export(
    caller: Caller,
    contextKey: string,
    options: ExportOptions,
  ): Promise<{ context: string; open: () => Readable }> {
    const context = await this.#begin(caller, contextKey)
    const time = new Date(this.#deps.system.now())
    const members = (): AsyncIterable<ZipMember> => this.#members(caller, context, options, time)
    return { context, open: () => writeZip(this.#whilePermitted(caller, members()), time) }
  }

  /**
   * The same in the form of EntryStore: statements, properties and files.
   * @throws {NotAcceptable} for statements that the syntax cannot say
   */
  async exportTriples(
    caller: Caller,
    contextKey: string,
    options: TriplesOptions,
  ): Promise<{ context: string; open: () => Readable }> {
    const context = await this.#begin(caller, contextKey)
    const time = new Date(this.#deps.system.now())
    const { type } = options
    // XML cannot say everything. The header of the response has been sent when the zip begins.
    const isXml = type === 'application/rdf+xml' || type === 'application/trix'
    if (isXml) for await (const _ of this.#triplesOf(caller, context, options).document(type)) continue
    const members = (): AsyncIterable<ZipMember> => this.#tripleMembers(caller, context, options, time)
    return { context, open: () => writeZip(this.#whilePermitted(caller, members()), time) }
  }

  /** The id of the context, which the caller may export. */
  async #begin(caller: Caller, contextKey: string): Promise<string> {
    const { context } = await getContext(this.#deps.database, contextKey)
    requireSuperUser(caller, 'export a context')
    requireOrdinary(context.id)
    const detail = { context: context.id }
    const { user, client } = caller
    await this.#deps.audit.record({ event: 'context-exported', actorId: user.id, address: client.address, detail })
    return context.id
  }

  #triplesOf(caller: Caller, context: string, options: Omit<TriplesOptions, 'type'>): ContextTriples {
    return new ContextTriples({
      ...options,
      database: this.#deps.database,
      context,
      check: () => this.#requirePermitted(caller),
    })
  }

  async #requirePermitted(caller: Caller): Promise<void> {
    requireSuperUser(await presentCaller(this.#deps.database, caller), 'export a context')
  }

  /** An export may take hours: session, account and right are checked again for each part of the zip. */
  async *#whilePermitted(caller: Caller, members: AsyncIterable<ZipMember>): AsyncGenerator<ZipMember> {
    for await (const one of members) {
      await this.#requirePermitted(caller)
      yield one
    }
  }

  async *#tripleMembers(
    caller: Caller,
    context: string,
    { type, ...options }: TriplesOptions,
    time: Date,
  ): AsyncGenerator<ZipMember> {
    const { database } = this.#deps
    yield* triplesAndProperties(this.#triplesOf(caller, context, options), { type, time, caller })
    if (options.metadataOnly) return
    for (let last = ''; ; ) {
      const row = await findNextRow(database, { context, id: last })
      if (!row) break
      const entry = entryFromRow(row)
      const file = fileOf(row, entry)
      const bytes = file && (await this.#open(entry, file))
      // The file has been replaced meanwhile: its entry is read again.
      if (file && !bytes) continue
      if (bytes) yield { name: resourceName(entry.id), isDeflated: false, bytes }
      last = entry.id
    }
  }

  async *#members(
    caller: Caller,
    context: string,
    { metadataOnly, form, only, withTriples = false }: ExportOptions,
    time: Date,
  ): AsyncGenerator<ZipMember> {
    const { database } = this.#deps
    const manifest: Manifest = {
      format: FORMAT,
      version: VERSION,
      base: form.href,
      context,
      exported: time.toISOString(),
      metadataOnly,
      lastNumber: await lastNumberOf(database, context),
    }
    yield member(MANIFEST, [lineOf(manifest)])
    const summary = { entries: 0, revisions: 0, files: 0, bytes: 0 }
    const principals = new WrittenPrincipals(database)
    const batch = new Batch()
    for (let last = ''; ; ) {
      const row = await findNextRow(database, { context, id: last })
      if (!row) break
      const entry = entryFromRow(row)
      if (only && !only.has(entry.id)) {
        last = entry.id
        continue
      }
      const file = metadataOnly ? undefined : fileOf(row, entry)
      const bytes = file && (await this.#open(entry, file))
      // The file has been replaced meanwhile: its entry is read again.
      if (file && !bytes) continue
      try {
        for (const principal of await principals.newIn(principalsIn(entry))) batch.add({ principal })
        batch.add({ entry: describeEntry(entry, { list: membershipFromRow(row), file }, form) })
        summary.entries++
        if (file && bytes) {
          yield batch.take()
          summary.files++
          summary.bytes += file.size
          yield { name: fileName(entry.id), isDeflated: false, bytes }
        }
      } finally {
        bytes?.destroy()
      }
      for (let number = 1; ; number++) {
        if (batch.isFull) yield batch.take()
        const revision = await findRevision(database, entry, number)
        if (!revision) break
        for (const principal of await principals.newIn([revision.author])) batch.add({ principal })
        batch.add({ revision: describeRevision(entry.id, revision, form) })
        summary.revisions++
      }
      last = entry.id
    }
    if (!batch.isEmpty) yield batch.take()
    yield member(SUMMARY, [lineOf(summary satisfies Summary)])
    if (!withTriples) return
    const triples = this.#triplesOf(caller, context, { metadataOnly: false, form })
    yield* triplesAndProperties(triples, { type: 'application/trig', time, caller })
  }

  /** Returns `undefined` when the entry no longer has this file. */
  async #open(entry: Entry, { blob }: FileRecord): Promise<Readable | undefined> {
    const isSame = (file: FileRecord): 'all' | undefined => (file.blob === blob ? 'all' : undefined)
    return (await this.#deps.files.read(entry, isSame))?.bytes
  }
}

interface TriplesIn {
  readonly type: string
  readonly time: Date
  readonly caller: Caller
}

async function* triplesAndProperties(
  triples: ContextTriples,
  { type, time, caller }: TriplesIn,
): AsyncGenerator<ZipMember> {
  yield { name: TRIPLES, isDeflated: true, bytes: textStream(triples.document(type)) }
  yield member(PROPERTIES, [await triples.properties(time, principalUri(caller.user.id))])
}

const fileOf = ({ blob, size, sha256 }: ExportRow, entry: Entry): FileRecord | undefined =>
  blob === null || !holdsFile(entry) ? undefined : { blob, size, sha256 }

/** Lines of the archive that wait for the next member of the zip. */
export class Batch {
  #lines: string[] = []
  #length = 0
  #number = 0

  get isEmpty(): boolean {
    return this.#lines.length === 0
  }

  get isFull(): boolean {
    return this.#length >= MAX_BATCH
  }

  add(line: Line): void {
    const text = lineOf(line)
    this.#lines.push(text)
    this.#length += text.length
  }

  take(): ZipMember {
    const lines = this.#lines
    this.#lines = []
    this.#length = 0
    return member(batchName(++this.#number), lines)
  }
}

/** The users and groups that the archive names: each has one line, before the first that refers to it. */
export class WrittenPrincipals {
  readonly #database: Queries
  readonly #known = new Set<string>()

  constructor(database: Queries) {
    this.#database = database
  }

  /** Those that have no line yet; deleted ones are left out. */
  async newIn(ids: Iterable<string>): Promise<PrincipalLine[]> {
    const lines: PrincipalLine[] = []
    for (const id of ids) {
      if (this.#known.has(id)) continue
      this.#known.add(id)
      const user = await findUser(this.#database, id)
      const group = user ? undefined : await findGroup(this.#database, id)
      if (user) lines.push({ id, kind: 'user', name: user.name })
      else if (group) lines.push({ id, kind: 'group', name: group.name })
    }
    return lines
  }
}

/** Rejects system contexts: users, groups and contexts belong to the store they are in. @throws {InvalidInput} */
export function requireOrdinary(context: string): void {
  if (context !== CONTEXTS && context !== PRINCIPALS) return
  throw new InvalidInput('invalid-type', 'System contexts are neither exported nor imported.')
}

export const lineOf = (value: unknown): string => `${JSON.stringify(value)}\n`

export const member = (name: string, lines: readonly string[]): ZipMember => ({
  name,
  isDeflated: true,
  bytes: Readable.from(pieces(lines), { objectMode: false }),
})

/** In small pieces, so that other requests run between them, and no second copy of a long line is made. */
function* pieces(lines: readonly string[]): Generator<Uint8Array> {
  let text = ''
  for (const line of lines) {
    for (let at = 0; at < line.length; ) {
      const end = at + PIECE
      // The two halves of a character stay together.
      const next = end < line.length && line.codePointAt(end - 1) !== line.charCodeAt(end - 1) ? end + 1 : end
      text += line.slice(at, next)
      at = next
      if (text.length < PIECE) continue
      yield Buffer.from(text)
      text = ''
    }
  }
  if (text !== '') yield Buffer.from(text)
}

/** The place in a list and the file that the line of an entry contains in addition to the entry. */
interface Beside {
  readonly list: Membership | undefined
  readonly file: FileLine | undefined
}

const isoTime = (time: number): string => new Date(time).toISOString()

/** Describes an entry as a line of the archive. */
export function describeEntry(entry: Entry, { list, file }: Beside, form: IriForms): EntryLine {
  const isGraph = holdsGraph(entry)
  const { statements, metadata, cachedExternalMetadata: cached, content } = entry
  return {
    id: entry.id,
    entryType: entry.entryType,
    graphType: entry.graphType,
    resourceType: entry.resourceType,
    resource: entry.externalResource === undefined ? undefined : form.toAbsolute(entry.externalResource),
    externalMetadata: entry.externalMetadata === undefined ? undefined : form.toAbsolute(entry.externalMetadata),
    created: isoTime(entry.created),
    modified: isoTime(entry.modified),
    creator: entry.creator,
    contributors: entry.contributors,
    acl: mapAcl(entry.acl, principals => principals.map(iri => form.toAbsolute(iri))),
    cached: entry.cached === undefined ? undefined : isoTime(entry.cached),
    list: list && { id: list.list, position: list.position, ...(list.isTrusted ? {} : { trusted: false }) },
    file: file && { size: file.size, sha256: file.sha256 },
    info: form.absoluteGraph(statements),
    metadata: form.absoluteGraph(parseGraph(metadata)),
    cachedExternalMetadata: cached === undefined ? undefined : form.absoluteGraph(parseGraph(cached)),
    text: isGraph ? undefined : content,
    graph: isGraph ? form.absoluteGraph(parseGraph(content ?? '{}')) : undefined,
  }
}

export const describeRevision = (id: string, revision: Revision, form: IriForms): RevisionLine => ({
  entry: id,
  number: revision.number,
  time: isoTime(revision.time),
  author: revision.author,
  metadata: form.absoluteGraph(parseGraph(revision.metadata)),
})
