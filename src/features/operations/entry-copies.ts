import type { Caller } from '../../accounts/caller.ts'
import { Conflict, InvalidInput, NotFound } from '../../base/errors.ts'
import type { Changes, EntryWriter } from '../../content/changes.ts'
import { nextId } from '../../content/contexts.ts'
import { inheriting, placeFor, requireList } from '../../content/creation-place.ts'
import type { EntryLoader } from '../../content/entry-loader.ts'
import { joinList } from '../../content/access-scopes.ts'
import { renamingAfter, withUris } from '../../content/list-moves.ts'
import { findFile } from '../../files/file-records.ts'
import type { FileRecord } from '../../files/file-records.ts'
import type { Files } from '../../files/files.ts'
import { type EntryAddress, principalUri, resourceUri } from '../../model/addresses.ts'
import { type Acl, decidesAlone, type Entry, givingAccess, holdsFile, isList, payingUser } from '../../model/entry.ts'
import { type AccessCheck, requireRight } from '../../model/rights.ts'
import type { Database } from '../../stores/database.ts'
import type { Destination } from './operation.ts'

interface Dependencies {
  readonly database: Database
  readonly loader: EntryLoader
  readonly changes: Changes
  readonly files: Files
}

interface Copying {
  readonly from: EntryAddress
  readonly to: Destination
  readonly signal: AbortSignal
  /** Runs in the transaction that creates the copy. */
  readonly within: (writer: EntryWriter, copy: EntryAddress) => Promise<void>
}

const copying: AccessCheck = (caller, target) => {
  requireRight(caller, 'readmetadata', target, `copy the entry "${target.entry.id}"`)
  requireRight(caller, 'readresource', target, `copy the entry "${target.entry.id}"`)
  // The entry gives its owner the right to change and delete the dataset, which stays the same one.
  if (target.entry.graphType === 'PipelineResult')
    throw new InvalidInput('invalid-type', 'The result of a pipeline cannot be copied: run the pipeline again.')
}

/**
 * Copies entries one by one, with their metadata and their file. A copy is a new entry of the caller: it gets its access from the place that
 * it is created in, unless the access list of the original decides alone: then only the caller has access. It has none of the revisions,
 * public links and members of the original.
 */
export class EntryCopies {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** The bytes of a file are stored before the transaction. @throws {ServiceError} as a creation does, and an upload */
  async copy(caller: Caller, { from, to, signal, within }: Copying): Promise<void> {
    const { changes, database, files, loader } = this.#deps
    const target = await loader.get({ context: from.context, entry: from.id })
    copying(caller, target)
    await placeFor(database, caller, to.context, listUriOf(to))
    const file = holdsFile(target.entry) ? await findFile(database, from) : undefined
    const insert = async (writer: EntryWriter): Promise<Entry> => {
      const copy = await this.#insert(writer, from, to)
      await within(writer, copy)
      return copy
    }
    if (!file) return void (await changes.run(caller, insert))
    await files.putNew(
      { context: to.context, user: payingUser({ creator: caller.user.id }) },
      { declaredSize: file.size, open: () => this.#bytesOf(from, file), signal },
      { transaction: changes.transactionOf(caller), create: async writer => ({ place: await insert(writer) }) },
    )
  }

  async #insert(writer: EntryWriter, from: EntryAddress, to: Destination): Promise<Entry> {
    const { tx, caller, now } = writer
    const place = await placeFor(tx, caller, to.context, listUriOf(to))
    const list = to.list === undefined ? undefined : requireList(place.list)
    const { entry } = await writer.load(from, copying)
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

  /** @throws {Conflict} when the file has been replaced since its size was declared */
  async *#bytesOf(place: EntryAddress, { blob }: FileRecord): AsyncGenerator<Uint8Array> {
    const found = await this.#deps.files.read(place, () => 'all')
    if (!found?.bytes) throw new NotFound('not-found', `The file of the entry "${place.id}" has just been deleted.`)
    if (found.file.blob !== blob) {
      found.bytes.destroy()
      throw new Conflict('conflict', `The file of the entry "${place.id}" has just been replaced.`)
    }
    yield* found.bytes as AsyncIterable<Uint8Array>
  }
}

/** On a list for everything in it, too. */
function onlyFor(user: string, entry: Entry): Acl {
  const acl: Acl = { admin: [principalUri(user)] }
  return isList(entry) ? givingAccess(acl) : acl
}

const listUriOf = ({ context, list }: Destination): string | undefined =>
  list === undefined ? undefined : resourceUri({ context, id: list })
