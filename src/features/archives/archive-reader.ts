import { crc32 } from 'node:zlib'
import type { Readable } from 'node:stream'
import { InvalidInput } from '../../base/errors.ts'
import type { Bytes } from '../../base/units.ts'
import { asRefusal, type RandomAccess, readZip, type ZipEntry } from '../../files/zip.ts'
import { batchName, fileName, type IriForms, type Manifest, MANIFEST, type PrincipalLine, SUMMARY } from './format.ts'
import { PROPERTIES, TRIPLES } from './triples.ts'
import {
  LineReader,
  type ReadEntry,
  readManifest,
  readPrincipal,
  type ReadRevision,
  readSummary,
  requireObject,
  wrong,
} from './read-lines.ts'

/** Limits of an archive: how much one import can make the service store. */
const MAX_MEMBERS = 2_000_000
const MAX_ENTRIES = 1_000_000
const MAX_PRINCIPALS = 100_000
/** Maximum size of all descriptions together, uncompressed. */
const MAX_DESCRIPTIONS: Bytes = 4 * 2 ** 30
const MAX_LINE: Bytes = 64 * 2 ** 20
/** Maximum size of the manifest, and of the summary. */
const MAX_FRAME: Bytes = 65_536

/** The items of an archive, in their order. */
type Item =
  | { readonly kind: 'manifest'; readonly manifest: Manifest }
  | { readonly kind: 'principal'; readonly principal: PrincipalLine }
  | ({ readonly kind: 'entry' } & ReadEntry)
  | { readonly kind: 'file'; readonly id: string; readonly sha256: string; readonly open: () => Promise<Readable> }
  | ({ readonly kind: 'revision' } & ReadRevision)

export interface Survey {
  /** Number of files. */
  readonly count: number
  /** Sum of the file sizes in the directory of the zip. */
  readonly total: Bytes
  readonly largest: Bytes
}

/**
 * Reads only the directory of the zip, before anything is extracted. Files are stored uncompressed, so together they are no
 * larger than the archive: a small archive cannot expand into a large one.
 * @throws {InvalidInput} `invalid-archive`
 */
export async function surveyArchive(source: RandomAccess): Promise<Survey> {
  let [members, descriptions, count, total, largest] = [0, 0, 0, 0, 0]
  for await (const { name, size, isDeflated } of readZip(source)) {
    if (++members > MAX_MEMBERS) throw wrong(`it has more than ${MAX_MEMBERS} members`)
    if (name.startsWith('files/')) {
      if (isDeflated) throw wrong(`"${name}" is compressed; files are stored as they are`)
      count++
      total += size
      largest = Math.max(largest, size)
    } else {
      descriptions += size
    }
    if (total > source.size) throw wrong('its files overlap')
    if (descriptions > MAX_DESCRIPTIONS) throw wrong('its descriptions are too long')
  }
  return { count, total, largest }
}

/**
 * Yields the items of an archive, each checked as it is read, and checks that none is missing or repeated. A caller that
 * does not open a file skips it.
 * @param context that the items are read for. @throws {InvalidInput} `invalid-archive`, `invalid-graph`
 */
export async function* readArchive(source: RandomAccess, context: string, form: IriForms): AsyncGenerator<Item> {
  const counts = { entries: 0, revisions: 0, files: 0, bytes: 0 }
  let [batches, principals] = [0, 0]
  let reader: LineReader | undefined
  let last: ReadEntry | undefined
  let revisions = 0
  /** The entry whose file must come next. */
  let awaited: ReadEntry | undefined
  let isWhole = false

  for await (const part of readZip(source)) {
    if (isWhole) {
      // The same in the form of EntryStore: nothing of it is needed here.
      if (part.name === TRIPLES || part.name === PROPERTIES) continue
      throw wrong(`"${part.name}" comes after the end`)
    }
    if (!reader) {
      if (part.name !== MANIFEST) throw wrong(`it begins with "${part.name}" instead of "${MANIFEST}"`)
      const manifest = readManifest(await readFrame(part))
      reader = new LineReader(manifest, context, form)
      yield { kind: 'manifest', manifest }
    } else if (awaited?.file) {
      const { entry, file } = awaited
      if (part.name !== fileName(entry.id)) throw wrong(`the file of "${entry.id}" does not follow it`)
      if (part.size !== file.size) throw wrong(`the file of "${entry.id}" has the wrong size`)
      awaited = undefined
      counts.files++
      counts.bytes += file.size
      yield { kind: 'file', id: entry.id, sha256: file.sha256, open: part.open }
    } else if (part.name === SUMMARY) {
      const summary = readSummary(await readFrame(part))
      const isSame = (['entries', 'revisions', 'files', 'bytes'] as const).every(name => summary[name] === counts[name])
      if (!isSame) throw wrong('its parts differ from its summary')
      isWhole = true
    } else {
      batches++
      if (part.name !== batchName(batches)) throw wrong(`"${part.name}" stands where "${batchName(batches)}" should`)
      for await (const line of linesOf(part)) {
        if (awaited) throw wrong(`the file of "${awaited.entry.id}" does not follow it`)
        const json = requireObject(line, 'a line')
        if (json['entry'] !== undefined) {
          last = reader.entry(json['entry'])
          revisions = 0
          if (++counts.entries > MAX_ENTRIES) throw wrong(`it has more than ${MAX_ENTRIES} entries`)
          if (last.file) awaited = last
          yield { kind: 'entry', ...last }
        } else if (json['revision'] !== undefined) {
          const read = reader.revision(json['revision'])
          if (read.entryId !== last?.entry.id || read.revision.number !== ++revisions) {
            throw wrong(`a revision of "${read.entryId}" is in the wrong place`)
          }
          counts.revisions++
          yield { kind: 'revision', ...read }
        } else {
          if (++principals > MAX_PRINCIPALS) throw wrong(`it names more than ${MAX_PRINCIPALS} principals`)
          yield { kind: 'principal', principal: readPrincipal(json['principal']) }
        }
      }
    }
  }
  if (!isWhole) throw wrong('its end is missing')
}

async function readFrame(part: ZipEntry): Promise<unknown> {
  if (part.size > MAX_FRAME) throw wrong(`"${part.name}" is too long`)
  for await (const line of linesOf(part)) return line
  throw wrong(`"${part.name}" is empty`)
}

/** Yields the JSON values of a member, one per line, and checks its bytes against the checksum. */
async function* linesOf(part: ZipEntry): AsyncGenerator {
  let checksum = 0
  let pending: Buffer[] = []
  let length = 0
  const take = (): unknown => {
    const bytes = pending.length === 1 && pending[0] ? pending[0] : Buffer.concat(pending)
    pending = []
    length = 0
    return parseLine(bytes, part.name)
  }
  for await (const chunk of bytesOf(part.open)) {
    checksum = crc32(chunk, checksum)
    let from = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      pending.push(chunk.subarray(from, end))
      from = end + 1
      yield take()
    }
    pending.push(chunk.subarray(from))
    length += chunk.length - from
    if (length > MAX_LINE) throw wrong(`"${part.name}" has a line of more than ${MAX_LINE} bytes`)
  }
  if (length > 0) throw wrong(`"${part.name}" ends in the middle of a line`)
  if (checksum !== part.crc32) throw wrong(`"${part.name}" has the wrong checksum`)
}

const NEWLINE = 0x0a

function parseLine(bytes: Uint8Array, name: string): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    throw new InvalidInput('invalid-archive', `A line of "${name}" is not JSON in UTF-8.`, { cause: error })
  }
}

/** Yields the bytes of a member. Errors of decompression become `InvalidInput`. */
export async function* bytesOf(open: () => Promise<Readable>): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of await open()) yield chunk as Buffer
  } catch (error) {
    throw asRefusal(error)
  }
}
