import type { Bytes } from '../../base/units.ts'
import type { FileRecord } from '../../files/file-records.ts'
import { findGroup } from '../../accounts/groups.ts'
import { findUser } from '../../accounts/users.ts'
import { holdsFile, holdsGraph } from '../../model/entry.ts'
import type { Queries } from '../../stores/database.ts'
import { type EntryRow, type ExportRow, findNextRow, headFromRow } from '../entry-records.ts'
import type { Membership } from '../list-records.ts'
import { findRevisionText } from '../revisions.ts'
import type { IriForms, PrincipalLine } from './format.ts'
import { describeHead } from './lines.ts'
import { principalsIn } from './principals.ts'

/** A place in the export of a context: entries in the order of their ids, each followed by its revisions. */
export interface Place {
  /** The last entry that has been written; empty before the first one. */
  readonly id: string
  /** The next revision of this entry; 0 when all have been written. */
  readonly revision: number
}

export const beginning: Place = { id: '', revision: 0 }

/** Asks for what comes next in the export of a context. A plain value, so that another thread can answer it. */
export interface PageTask {
  readonly context: string
  readonly from: Place
  readonly metadataOnly: boolean
  /** Memory that may hold the page, moved with the task: else each page would leave as much for the garbage collector. */
  readonly memory?: ArrayBuffer | undefined
}

/** Lines of an archive, up to an entry whose file follows in the archive. */
export interface Part {
  /** Where it begins in the export. */
  readonly from: Place
  /** Where its lines end in the bytes of the page. */
  readonly end: Bytes
  readonly entries: number
  readonly revisions: number
  /** The file of its last line, from the same moment as the entry. */
  readonly file: (FileRecord & { readonly entry: string }) | undefined
}

export interface Page {
  /** The users and groups that the page refers to; deleted ones are left out. */
  readonly principals: readonly PrincipalLine[]
  readonly parts: readonly Part[]
  /** The lines of all parts as UTF-8; nothing else is in their memory. */
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Where the next page begins; absent on the last one. */
  readonly next: Place | undefined
}

/** A page ends after this many characters, or after the entry that exceeds them. */
const MAX_LENGTH = 262_144
/** Each file on a page is opened when its turn has come, and may have been replaced by then. */
const MAX_FILES = 50

/** Addresses and texts in the form in which they leave the service. */
export interface PageForm extends Pick<IriForms, 'toAbsolute'> {
  /** @param text a graph as it is stored */
  absoluteText(text: string): string
}

/**
 * Reads and writes the next page of an export. Graphs are copied as texts and not parsed: an entry, and each of its revisions, can have
 * several megabytes.
 */
export async function readPage(
  queries: Queries,
  { context, from, metadataOnly, memory }: PageTask,
  form: PageForm,
): Promise<Page> {
  const page = new PageWriter(from, memory)
  const named = new Set<string>()
  let place = from
  for (;;) {
    if (page.isFull) return page.finish(await principalLines(queries, named), place)
    if (place.revision > 0) {
      const revision = await findRevisionText(queries, { context, id: place.id }, place.revision)
      if (revision) {
        const { number, author } = revision
        named.add(author)
        const head = { entry: place.id, number, time: new Date(revision.time).toISOString(), author }
        page.addRevision(lineOf('revision', head, { metadata: form.absoluteText(revision.metadata) }))
      }
      place = { id: place.id, revision: revision ? place.revision + 1 : 0 }
      continue
    }
    const row = await findNextRow(queries, { context, id: place.id })
    if (!row) return page.finish(await principalLines(queries, named), undefined)
    const head = headFromRow(row)
    const file = metadataOnly || !holdsFile(head) ? undefined : fileOf(row)
    for (const id of principalsIn(head)) named.add(id)
    const beside = { list: membershipOf(row), file }
    page.addEntry(lineOf('entry', describeHead(head, beside, form), textsOf(row, form)), place)
    place = { id: row.id, revision: 1 }
    if (file) page.endPart(place, { ...file, entry: row.id })
  }
}

/** Collects lines as pieces of text: joined, a line of several megabytes would be in memory once more. */
class PageWriter {
  readonly #pieces: string[] = []
  readonly #parts: Array<Omit<Part, 'end'> & { readonly pieces: number }> = []
  #length = 0
  #files = 0
  readonly #memory: ArrayBuffer | undefined
  #part: { from: Place; entries: number; revisions: number }

  constructor(from: Place, memory: ArrayBuffer | undefined) {
    this.#memory = memory
    this.#part = { from, entries: 0, revisions: 0 }
  }

  get isFull(): boolean {
    return this.#length >= MAX_LENGTH || this.#files >= MAX_FILES
  }

  addEntry(line: readonly string[], from: Place): void {
    if (this.#part.entries === 0 && this.#part.revisions === 0) this.#part.from = from
    this.#part.entries++
    this.#add(line)
  }

  addRevision(line: readonly string[]): void {
    this.#part.revisions++
    this.#add(line)
  }

  #add(line: readonly string[]): void {
    this.#pieces.push(...line)
    for (const { length } of line) this.#length += length
  }

  /** @param next where the next part begins */
  endPart(next: Place, file: Part['file']): void {
    if (this.#part.entries + this.#part.revisions === 0) return
    this.#parts.push({ ...this.#part, file, pieces: this.#pieces.length })
    this.#part = { from: next, entries: 0, revisions: 0 }
    if (file) this.#files++
  }

  finish(principals: readonly PrincipalLine[], next: Place | undefined): Page {
    this.endPart(beginning, undefined)
    const size = this.#pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0)
    const given = this.#memory
    const memory = given && given.byteLength >= size ? given : new ArrayBuffer(size)
    const bytes = Buffer.from(memory, 0, size)
    const parts: Part[] = []
    let [end, written] = [0, 0]
    for (const { pieces, ...part } of this.#parts) {
      for (; written < pieces; written++) end += bytes.write(this.#pieces[written] ?? '', end)
      parts.push({ ...part, end })
    }
    return { principals, parts, bytes: new Uint8Array(memory, 0, size), next }
  }
}

/** A line with one member, an object of these members and of some that are JSON already. */
function lineOf(name: string, members: object, texts: Readonly<Record<string, string | undefined>>): string[] {
  const pieces = [`{"${name}":`, JSON.stringify(members).slice(0, -1)]
  for (const [member, text] of Object.entries(texts)) if (text !== undefined) pieces.push(`,"${member}":`, text)
  return [...pieces, '}}\n']
}

function textsOf(row: EntryRow, form: PageForm): Readonly<Record<string, string | undefined>> {
  const isGraph = holdsGraph({ graphType: row.graph_type })
  const absolute = (text: string | null): string | undefined => (text === null ? undefined : form.absoluteText(text))
  return {
    info: absolute(row.statements),
    metadata: absolute(row.metadata),
    cachedExternalMetadata: absolute(row.cached_external_metadata),
    text: isGraph || row.content === null ? undefined : JSON.stringify(row.content),
    graph: isGraph ? absolute(row.content ?? '{}') : undefined,
  }
}

const fileOf = ({ blob, size, sha256 }: ExportRow): FileRecord | undefined =>
  blob === null ? undefined : { blob, size, sha256 }

const membershipOf = ({ list, position }: ExportRow): Membership | undefined =>
  list === null ? undefined : { list, position }

async function principalLines(queries: Queries, ids: Iterable<string>): Promise<PrincipalLine[]> {
  const lines: PrincipalLine[] = []
  for (const id of ids) {
    const user = await findUser(queries, id)
    const group = user ? undefined : await findGroup(queries, id)
    if (user) lines.push({ id, kind: 'user', name: user.name })
    else if (group) lines.push({ id, kind: 'group', name: group.name })
  }
  return lines
}
