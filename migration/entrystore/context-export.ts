import { join } from 'node:path'
import { setImmediate as nextIteration } from 'node:timers/promises'
import { Properties } from 'properties-file/parser'
import type { Row } from '../../src/backup/rows.ts'
import { systemNames } from '../../src/accounts/users.ts'
import { InvalidInput } from '../../src/base/errors.ts'
import type { System } from '../../src/base/system.ts'
import {
  fileName,
  FORMAT,
  type IriForms,
  MANIFEST,
  type Manifest,
  SUMMARY,
  VERSION,
} from '../../src/features/archives/format.ts'
import type { TranslatedArchive, TranslationHints } from '../../src/core/translate-archive.ts'
import { Batch, describeEntry, describeRevision, lineOf, member } from '../../src/features/archives/export.ts'
import { entryFromRow, type StoredRow } from '../../src/content/entry-columns.ts'
import type { Revision } from '../../src/content/revisions.ts'
import { bytesOf } from '../../src/features/archives/archive-reader.ts'
import { type RandomAccess, readZip, writeZip, type ZipMember, type ZipEntry } from '../../src/files/zip.ts'
import { mapIris } from '../../src/graph/graph.ts'
import { CONTEXTS, isId } from '../../src/model/addresses.ts'
import { newBlobKey } from '../../src/stores/blob-store.ts'
import { FolderBlobStore } from '../../src/stores/folder-blob-store.ts'
import type { Scratch, ScratchMap } from '../../src/stores/scratch.ts'
import { EntryRows } from './entry-rows.ts'
import { adviceFor } from './finding-codes.ts'
import { Unusable } from './formats/quads.ts'
import { readQuads } from './formats/read-quads.ts'
import { ListMemberships } from './list-memberships.ts'
import { PrincipalRows } from './principal-rows.ts'
import { QuadTable, sortable } from './quad-table.ts'
import { Report } from './report.ts'
import { RetiredIds } from './index-graph.ts'
import type { FilledTable } from './row-sink.ts'
import { sinkOf } from './source.ts'
import type { Survey } from './survey.ts'
import { Terms } from './terms.ts'
import { ZipFiles } from './old-files.ts'

const GRAPHS = 'triples.rdf'
const PROPERTIES = 'export.properties'
const MAX_PROPERTIES = 2 ** 20
/** Entries per batch, after which other requests run. */
const BATCH = 20

interface Dependencies {
  readonly openScratch: () => Promise<Scratch>
  readonly system: System
}

/**
 * Turns the zip of a context export of EntryStore into an archive of this service; `undefined` for any other zip.
 * @throws {InvalidInput} `invalid-archive`
 */
export async function translateContextExport(
  source: RandomAccess,
  { groups }: TranslationHints,
  { openScratch, system }: Dependencies,
): Promise<TranslatedArchive | undefined> {
  const zipEntries = new Map<string, ZipEntry>()
  for await (const entry of readZip(source)) {
    // An archive of this service has such triples too, and more than they say.
    if (entry.name === MANIFEST || entry.name === SUMMARY) return undefined
    zipEntries.set(entry.name, entry)
  }
  const triples = zipEntries.get(GRAPHS)
  if (!triples) return undefined
  const scratch = await openScratch()
  try {
    const origin = { ...readProperties(await textOf(zipEntries.get(PROPERTIES))), groups }
    const report = new Report()
    const quads = new QuadTable(scratch)
    await load(triples, quads, report)
    const translation = new Translation({ scratch, system, quads, report, zipEntries, origin })
    await translation.convert()
    const archive = await store(scratch, system, translation.members())
    report.requireBalanced()
    return { archive, report: report.toJSON(), close: () => scratch.close() }
  } catch (error) {
    await scratch.close()
    if (!(error instanceof Unusable)) throw error
    throw new InvalidInput('invalid-archive', `${error.code}: ${error.message}. ${adviceFor(error.code)}`, {
      cause: error,
    })
  }
}

interface Origin {
  readonly base: string
  readonly context: string
  /** Id → name, of users. */
  readonly users: ReadonlyMap<string, string | undefined>
  /** Id → name, from the caller: the export does not name groups. */
  readonly groups: ReadonlyMap<string, string>
}

async function textOf(entry: ZipEntry | undefined): Promise<string> {
  if (!entry || entry.size > MAX_PROPERTIES) throw new Unusable('not-an-export', `it holds no ${PROPERTIES}`)
  const chunks: Buffer[] = []
  for await (const chunk of bytesOf(entry.open)) chunks.push(chunk)
  // @throws {Unusable} `not-an-export`
  return Buffer.concat(chunks).toString('latin1')
}

/** @throws {Unusable} `not-an-export` */
function readProperties(text: string): Omit<Origin, 'groups'> {
  const properties = new Map(new Properties(text).getProperties().map(({ key, value }) => [key, value]))
  const entry = properties.get('contextEntryURI') ?? ''
  const [, base = '', context = ''] = /^(https?:\/\/[^\s?#]+\/)_contexts\/entry\/([A-Za-z0-9_-]+)$/.exec(entry) ?? []
  if (base === '' || context.startsWith('_')) {
    throw new Unusable('not-an-export', 'its contextEntryURI names no context')
  }
  const users = new Map<string, string | undefined>()
  for (const user of (properties.get('containedUsers') ?? '').split(',')) {
    const [id = '', ...name] = user.split(':')
    if (isId(id)) users.set(id, name.length === 0 ? undefined : name.join(':'))
  }
  return { base, context, users }
}

async function load(entry: ZipEntry, quads: QuadTable, report: Report): Promise<void> {
  await readQuads(bytesOf(entry.open), sinkOf('main', GRAPHS, { quads, report }))
  quads.flush()
  if (quads.count === 0) throw new Unusable('not-an-export', 'its graphs have lost their names')
}

interface TranslationInput {
  readonly scratch: Scratch
  readonly system: System
  readonly quads: QuadTable
  readonly report: Report
  readonly zipEntries: ReadonlyMap<string, ZipEntry>
  readonly origin: Origin
}

/** Reads the entries as the import of a whole store does, and tells them as an archive of this service. */
class Translation {
  readonly #given: TranslationInput
  readonly #files: ZipFiles
  readonly #entries: ScratchMap
  readonly #lists: ScratchMap
  readonly #fileRows: ScratchMap
  readonly #revisions: ScratchMap
  #last = 0

  constructor(given: TranslationInput) {
    this.#given = given
    this.#files = new ZipFiles(given.zipEntries)
    this.#entries = given.scratch.map()
    this.#lists = given.scratch.map()
    this.#fileRows = given.scratch.map()
    this.#revisions = given.scratch.map()
  }

  async convert(): Promise<void> {
    const { scratch, system, quads, report, origin } = this.#given
    const { base, context, users, groups } = origin
    const ids = scratch.map()
    const lists = new ListMemberships(scratch, report, ({ id }) => ids.get(id) !== undefined)
    const survey: Survey = {
      principals: new Map([
        ...[...users.keys(), ...Object.keys(systemNames)].map(id => [id, 'user'] as const),
        ...[...groups.keys()].map(id => [id, 'group'] as const),
      ]),
      contexts: new Set([context]),
      dropped: new Map(),
    }
    const rows = { add: (table: FilledTable, row: Row): Promise<void> => this.#take(table, row) }
    const passwords = { hash: async (): Promise<string> => '', wrap: undefined }
    const terms = new Terms({ base }, report)
    const principals = new PrincipalRows({ rows, report, survey, names: new Map(), passwords })
    const shared = {
      quads,
      terms,
      survey,
      files: this.#files,
      rows,
      report,
      zone: undefined,
      fallbackTime: system.now(),
    }
    const entries = new EntryRows({ ...shared, principals, lists, retired: new RetiredIds(), isExport: true })
    const prefix = `${base}${context}/entry/`
    let count = 0
    for (const graph of quads.graphsUnder(prefix)) {
      const id = graph.name.slice(prefix.length)
      if (!isId(id)) continue
      if (await entries.add({ context, id }, graph)) ids.set(id, '')
      if (/^\d{1,12}$/.test(id)) this.#last = Math.max(this.#last, Number(id))
      if (++count % BATCH === 0) await nextIteration()
    }
    if (count === 0)
      throw new Unusable('not-an-export', 'it holds no entries: an export of metadata only cannot be imported')
    await lists.settle(context, rows)
    for (const name of this.#files.rest()) report.note('file-orphan', name)
    for (const { name, quads: lost } of quads.unread()) {
      // The entry of the context itself stays as it is here.
      const isOfContext = name.startsWith(`${base}${CONTEXTS}/`)
      if (isOfContext) report.add('derived', lost)
      else report.drop('orphan-graph', name.startsWith(base) ? name.slice(base.length) : name, lost)
    }
  }

  async *members(): AsyncGenerator<ZipMember> {
    const { origin, system } = this.#given
    const { base, context } = origin
    const form = formOf(base)
    const manifest: Manifest = {
      format: FORMAT,
      version: VERSION,
      base,
      context,
      exported: new Date(system.now()).toISOString(),
      metadataOnly: false,
      lastNumber: this.#last,
    }
    yield member(MANIFEST, [lineOf(manifest)])
    const summary = { entries: 0, revisions: 0, files: 0, bytes: 0 }
    const batch = new Batch()
    for (const [id, name] of origin.users) if (name !== undefined) batch.add({ principal: { id, kind: 'user', name } })
    for (const [id, name] of origin.groups) batch.add({ principal: { id, kind: 'group', name } })
    for (const [id, row] of this.#entries.under('')) {
      const entry = entryFromRow({ ...(JSON.parse(row) as StoredRow), folders: null })
      const place = parsed<{ list: string; position: number }>(this.#lists.get(id))
      const list = place && { ...place, isTrusted: true }
      const file = parsed<{ size: number; sha256: string }>(this.#fileRows.get(id))
      summary.entries++
      batch.add({ entry: describeEntry(entry, { list, file }, form) })
      if (file) {
        summary.files++
        summary.bytes += file.size
        yield batch.take()
        yield { name: fileName(id), isDeflated: false, bytes: await this.#files.open(id) }
      }
      for (const [, text] of this.#revisions.under(`${id}/`)) {
        summary.revisions++
        batch.add({ revision: describeRevision(id, JSON.parse(text) as Revision, form) })
      }
      if (batch.isFull) yield batch.take()
      if (summary.entries % BATCH === 0) await nextIteration()
    }
    if (!batch.isEmpty) yield batch.take()
    yield member(SUMMARY, [lineOf(summary)])
  }

  async #take(table: FilledTable, row: Row): Promise<void> {
    const text = JSON.stringify(row)
    if (table === 'entries') this.#entries.set(String(row['id']), text)
    else if (table === 'list_members') this.#lists.set(String(row['member']), text)
    else if (table === 'files') this.#fileRows.set(String(row['entry']), text)
    else if (table === 'metadata_revisions') {
      this.#revisions.set(`${String(row['entry'])}/${sortable(Number(row['number']))}`, text)
    }
  }
}

const parsed = <T>(text: string | undefined): T | undefined =>
  text === undefined ? undefined : (JSON.parse(text) as T)

/** IRIs of the old service, absolute again. */
function formOf(base: string): IriForms {
  const toAbsolute = (iri: string): string => (iri.startsWith('./') ? base + iri.slice(2) : iri)
  return {
    href: base,
    toAbsolute,
    toRelative: iri => iri,
    absoluteGraph: graph => mapIris(graph, toAbsolute),
  }
}

/** Writes the archive into the scratch, so that it can be read twice. */
async function store(scratch: Scratch, system: System, members: AsyncIterable<ZipMember>): Promise<RandomAccess> {
  const blobs = await FolderBlobStore.open(join(scratch.folder, 'archive'))
  const key = newBlobKey(count => system.randomBytes(count))
  const { size } = await blobs.write(key, writeZip(members, new Date(system.now())), new AbortController().signal)
  return { size, read: range => blobs.read(key, range) }
}
