import type { Caller } from '../../accounts/caller.ts'
import { Conflict, InvalidInput, NotFound } from '../../base/errors.ts'
import type { Bytes } from '../../base/units.ts'
import type { EntryWriter } from '../../content/changes.ts'
import { nextId } from '../../content/contexts.ts'
import { inheriting, placeFor, requireList } from '../../content/creation-place.ts'
import type { EntryLoader } from '../../content/entry-loader.ts'
import { joinList } from '../../content/access-scopes.ts'
import { renamingAfter, withUris } from '../../content/list-moves.ts'
import { findFile } from '../../files/file-records.ts'
import type { FileRecord } from '../../files/file-records.ts'
import type { Files } from '../../files/files.ts'
import type { UsageChange } from '../../files/quota-thresholds.ts'
import type { StagedFile } from '../../files/staging.ts'
import { type EntryAddress, principalUri, resourceUri } from '../../model/addresses.ts'
import { type Acl, decidesAlone, type Entry, givingAccess, holdsFile, isList, payingUser } from '../../model/entry.ts'
import { type AccessCheck, requireRight } from '../../model/rights.ts'
import type { Database, Queries } from '../../stores/database.ts'
import type { Destination } from './operation.ts'

interface Dependencies {
  readonly database: Database
  readonly loader: EntryLoader
  readonly files: Files
}

/** An entry to copy, and where to: nowhere if the list that it is in was not copied. */
export interface Copying {
  readonly from: EntryAddress
  readonly to: Destination | undefined
}

interface Checked {
  readonly from: EntryAddress
  readonly to: Destination
  readonly file: FileRecord | undefined
}

/** What can be copied: the bytes of its file, if it has one, are stored already. */
export interface PreparedCopy extends Checked {
  readonly staged: StagedFile | undefined
}

const copying: AccessCheck = (caller, target) => {
  requireRight(caller, 'readmetadata', target, `copy the entry "${target.entry.id}"`)
  requireRight(caller, 'readresource', target, `copy the entry "${target.entry.id}"`)
  // The entry gives its owner the right to change and delete the dataset, which stays the same one.
  if (target.entry.graphType === 'PipelineResult')
    throw new InvalidInput('invalid-type', 'The result of a pipeline cannot be copied: run the pipeline again.')
}

/** Of the files of entries that are copied together. */
const MAX_BYTES: Bytes = 16 * 2 ** 20

/**
 * Copies entries, with their metadata and their file. A copy is a new entry of the caller: it gets its access from the place that
 * it is created in, unless the access list of the original decides alone: then only the caller has access. It has none of the revisions,
 * public links and members of the original.
 */
export class EntryCopies {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * Checks entries and stores the bytes of their files, until there are many bytes. Resolves to what can be copied, in its order, and to the
   * reason for each that cannot. {@link release} must follow.
   */
  async prepare(
    caller: Caller,
    wanted: readonly Copying[],
    signal: AbortSignal,
  ): Promise<ReadonlyArray<PreparedCopy | { readonly reason: unknown }>> {
    const staging: Array<() => Promise<PreparedCopy>> = []
    let bytes: Bytes = 0
    for (const one of wanted) {
      try {
        const { from, to, file } = await this.#checked(caller, one)
        bytes += file?.size ?? 0
        if (bytes > MAX_BYTES && staging.length > 0) break
        staging.push(async () => ({
          from,
          to,
          file,
          staged: file && (await this.#stage(caller, { from, to, file }, signal)),
        }))
      } catch (error) {
        staging.push(() => Promise.reject(error))
      }
    }
    // They reserve storage in their order.
    const ends = await Promise.allSettled(staging.map(stage => stage()))
    return ends.map(end => (end.status === 'fulfilled' ? end.value : { reason: end.reason as unknown }))
  }

  /**
   * Creates the copy.
   * @throws {ServiceError} as a creation does, and an upload
   * @throws {NotFound | Conflict} when the file has changed since its bytes were stored
   */
  async insert(
    writer: EntryWriter,
    { staged, ...checked }: PreparedCopy,
  ): Promise<{ readonly copy: EntryAddress; readonly usage: readonly UsageChange[] }> {
    const copy = await this.#insert(writer, checked)
    return { copy, usage: staged ? await this.#deps.files.putStaged(writer.tx, staged, copy) : [] }
  }

  /** @param reason why some have not been created */
  async release(copies: readonly PreparedCopy[], reason?: unknown): Promise<void> {
    await this.#deps.files.endStaged(
      copies.flatMap(({ staged }) => staged ?? []),
      reason,
    )
  }

  async #checked(caller: Caller, { from, to }: Copying): Promise<Checked> {
    const { database, loader } = this.#deps
    if (!to) throw new Conflict('conflict', `The list that the entry "${from.id}" is in was not copied.`)
    const target = await loader.get({ context: from.context, entry: from.id })
    copying(caller, target)
    await placeFor(database, caller, to.context, listUriOf(to), key => loader.getContext(key))
    return { from, to, file: await fileOf(database, target.entry) }
  }

  async #stage(
    caller: Caller,
    { from, to, file }: Checked & { readonly file: FileRecord },
    signal: AbortSignal,
  ): Promise<StagedFile> {
    const place = { context: to.context, user: payingUser({ creator: caller.user.id }) }
    const incoming = { declaredSize: file.size, open: () => this.#bytesOf(from, file), signal }
    return await this.#deps.files.staging.stage({ place, replaced: undefined, incoming })
  }

  async #insert(writer: EntryWriter, { from, to, file }: Checked): Promise<Entry> {
    const { tx, caller, now } = writer
    const place = await placeFor(tx, caller, to.context, listUriOf(to))
    const list = to.list === undefined ? undefined : requireList(place.list)
    const { entry } = await writer.load(from, copying)
    // The metadata may describe another file by now.
    requireSame(from, file, await fileOf(tx, entry))
    const address = { context: place.context, id: await nextId(tx, place.context) }
    const renamed = withUris(entry, renamingAfter(from.context, new Map([[from.id, address]])))
    const by = caller.user.id
    const made = { created: now, modified: now, creator: by, contributors: [by], acl: {}, folders: [] }
    const copied = { ...renamed, ...address, ...made }
    // Nobody has asked to open a closed entry to the readers of another place.
    const copy = decidesAlone(entry.acl) ? { ...copied, acl: onlyFor(by, copied) } : inheriting(caller, copied, place)
    await writer.insert(copy)
    if (list) {
      await joinList(writer, list, copy, true)
      await writer.touch(list)
    }
    return copy
  }

  /** @throws {NotFound | Conflict} when the file has changed since its size was declared */
  async *#bytesOf(place: EntryAddress, file: FileRecord): AsyncGenerator<Uint8Array> {
    const found = await this.#deps.files.read(place, () => 'all')
    try {
      requireSame(place, file, found?.file)
      if (found?.bytes) yield* found.bytes as AsyncIterable<Uint8Array>
    } finally {
      found?.bytes?.destroy()
    }
  }
}

const fileOf = async (queries: Queries, entry: Entry): Promise<FileRecord | undefined> =>
  holdsFile(entry) ? await findFile(queries, entry) : undefined

/** @throws {NotFound | Conflict} unless the file of an entry is the one that it had when its copy began */
function requireSame({ id }: EntryAddress, before: FileRecord | undefined, present: FileRecord | undefined): void {
  if (present?.blob === before?.blob) return
  if (!present) throw new NotFound('not-found', `The file of the entry "${id}" has just been deleted.`)
  const change = before ? 'replaced' : 'added'
  throw new Conflict('conflict', `The file of the entry "${id}" has just been ${change}. Copy the entry again.`)
}

/** On a list for everything in it, too. */
function onlyFor(user: string, entry: Entry): Acl {
  const acl: Acl = { admin: [principalUri(user)] }
  return isList(entry) ? givingAccess(acl) : acl
}

const listUriOf = ({ context, list }: Destination): string | undefined =>
  list === undefined ? undefined : resourceUri({ context, id: list })
