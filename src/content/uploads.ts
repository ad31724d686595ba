import type { Caller } from '../accounts/caller.ts'
import { InvalidInput, NotFound, WrongMethod } from '../base/errors.ts'
import { type FileRecord, findFile } from '../files/file-records.ts'
import type { Files } from '../files/files.ts'
import type { Incoming } from '../files/incoming.ts'
import { literal, objectsOf, type Graph } from '../graph/graph.ts'
import { dct, rdfs, xsd } from '../graph/vocabulary.ts'
import type { Creation, CreationRequest } from './creation.ts'
import type { Changes } from './changes.ts'
import { type Entry, holdsFile, resourceOf } from '../model/entry.ts'
import { withStatement } from './info.ts'
import { requires, type EntryInContext } from '../model/rights.ts'

interface Dependencies {
  readonly creation: Creation
  readonly changes: Changes
  readonly files: Files
}

export interface Upload extends Incoming {
  /** Available once `bytes` have been read, because a multipart body contains these values between its parts. */
  readonly describe: () => { readonly mediaType: string; readonly fileName: string | undefined }
}

/** Checks the entry and its present file, and throws if the check fails. */
export type FilePrecondition = (entry: Entry, file: FileRecord | undefined) => void

export interface StoredUpload {
  readonly entry: Entry
  readonly file: FileRecord
}

/** The default media type of a file. */
export const UNTYPED = 'application/octet-stream'

const uploading = requires('writeresource', 'upload to this entry')
const removing = requires('writeresource', 'delete the file of this entry')

/** Stores and removes the files of entries (W3.8.1, D7). */
export class Uploads {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** Checks right and precondition before any byte is requested, and again when the file has arrived. */
  async store(
    caller: Caller,
    placed: EntryInContext,
    upload: Upload,
    precondition: FilePrecondition,
  ): Promise<StoredUpload> {
    uploading(caller, placed)
    const { entry } = placed
    requireHoldsFile(entry)
    precondition(entry, await this.#deps.files.find(entry))
    return await this.#deps.files.store(entry, upload, async (tx, file, previous) => {
      const changed = await this.#deps.changes.within(tx, caller, async writer => {
        const { entry: present } = await writer.recheck(placed, uploading)
        requireHoldsFile(present)
        precondition(present, previous)
        const statements = describeFile(present, { ...upload.describe(), size: file.size })
        return await writer.update(present, { ...present, statements })
      })
      return { entry: changed, file }
    })
  }

  /**
   * Creates an entry together with its file, in one transaction: a failed upload leaves nothing.
   * @throws {InvalidInput} unless the request describes a local entry that can hold a file
   */
  async create(caller: Caller, contextKey: string, request: CreationRequest, upload: Upload): Promise<StoredUpload> {
    if (request.entryType !== 'Local' || request.graphType !== 'None' || request.namedResource) {
      throw new InvalidInput('invalid-type', 'Only a local entry of graph type None is created with a file.')
    }
    const prepared = await this.#deps.creation.prepare(caller, contextKey, request)
    const { entry, file } = await this.#deps.files.storeNew(prepared.context, upload, async (tx, file) => {
      const entry = await this.#deps.changes.within(tx, caller, writer =>
        this.#deps.creation.insert(writer, prepared, entry => {
          requireHoldsFile(entry)
          return { ...entry, statements: describeFile(entry, { ...upload.describe(), size: file.size }) }
        }),
      )
      return { place: entry, entry, file }
    })
    return { entry, file }
  }

  async remove(caller: Caller, placed: EntryInContext, precondition: FilePrecondition): Promise<Entry> {
    removing(caller, placed)
    requireHoldsFile(placed.entry)
    const entry = await this.#deps.changes.change(caller, placed, { check: removing }, async (present, { tx }) => {
      precondition(present, await findFile(tx, present))
      if (!(await this.#deps.files.remove(tx, present))) throw new NotFound('no-file', 'This entry has no file.')
      return { ...present, statements: describeFile(present, undefined) }
    })
    await this.#deps.files.collectGarbage()
    return entry
  }
}

function requireHoldsFile(entry: Entry): void {
  if (holdsFile(entry)) return
  const isExternal = entry.entryType !== 'Local'
  if (isExternal) throw new WrongMethod('Uploading to an entry whose resource is elsewhere', ['GET', 'HEAD'])
  throw new InvalidInput('invalid-type', 'This entry cannot hold a file.')
}

/** The statements of `info` about the file (W2.3); a file without a name removes the label of the previous one. */
function describeFile(
  entry: Entry,
  file: { readonly mediaType: string; readonly fileName: string | undefined; readonly size: number } | undefined,
): Graph {
  const r = resourceOf(entry)
  const say = (graph: Graph, predicate: string, text: string | undefined, datatype?: string): Graph =>
    withStatement(graph, r, predicate, text === undefined ? undefined : literal(text, datatype))
  const typed = say(entry.statements, dct.format, file?.mediaType)
  const measured = say(typed, dct.extent, file && String(file.size), xsd.long)
  return say(measured, rdfs.label, file?.fileName)
}

/** The media type that the file is served with: the one in `info`, if it is valid. */
export function mediaTypeOf(entry: Entry): string {
  const type = objectsOf(entry.statements, resourceOf(entry), dct.format)[0]?.value
  return type !== undefined && isMediaType(type) ? type : UNTYPED
}

/** The file name for downloads: the label without folder names (RFC 6266 4.3), else the entry's id. */
export function fileNameOf(entry: Entry): string {
  const label = objectsOf(entry.statements, resourceOf(entry), rdfs.label)[0]?.value ?? ''
  const name = label.slice(Math.max(label.lastIndexOf('/'), label.lastIndexOf('\\')) + 1)
  return name === '' || name === '.' || name === '..' ? entry.id : name
}

/** `type/subtype` in the characters of RFC 9110 8.3.1, without parameters. */
export const isMediaType = (text: string): boolean =>
  /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,127}\/[A-Za-z0-9!#$%&'*+.^_`|~-]{1,127}$/.test(text)
