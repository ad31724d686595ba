import type { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Caller } from '../../accounts/caller.ts'
import { InvalidInput, NotFound, TooLarge } from '../../base/errors.ts'
import type { System } from '../../base/system.ts'
import type { Files } from '../../files/files.ts'
import { writeZip, type ZipFolder, type ZipMember } from '../../files/zip-writer.ts'
import { CONTEXTS, type EntryAddress, PRINCIPALS } from '../../model/addresses.ts'
import { type Entry, type EntryHead, holdsFile, isList } from '../../model/entry.ts'
import { may, requireRight } from '../../model/rights.ts'
import type { Database } from '../../stores/database.ts'
import { getContext } from '../contexts.ts'
import { entriesInList, findEntry, findEntryHead } from '../entry-records.ts'
import { displayName, fileNameOf, mediaTypeOf } from '../file-description.ts'
import { FolderNames, safeName } from './member-names.ts'

interface Dependencies {
  readonly database: Database
  readonly files: Files
  readonly system: System
}

export interface FileZip {
  /** A name for the zip, without the extension. */
  readonly name: string
  readonly open: () => Readable
}

/** Limit of files and folders in one zip. */
export const MAX_MEMBERS = 10_000
/** After this many entries, other requests get their turn. */
const TURN = 50

interface Planned {
  readonly path: string
  /** Absent for a folder. */
  readonly file: EntryAddress | undefined
}

/** Files and folders as one zip, with the names and folders that people see (D25.7). */
export class FileZips {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * The caller must be able to read the resource of each entry; what they may not read in a list is left out. Names are
   * collected first, files are opened one after the other while the zip is read.
   * @param mayGoOn is asked before each file; when it says no, the zip ends there and is broken
   * @throws {NotFound} @throws {Unauthenticated | Forbidden} @throws {TooLarge} `zip-too-large`
   */
  async open(
    caller: Caller,
    contextKey: string,
    ids: readonly string[],
    mayGoOn?: () => Promise<boolean>,
  ): Promise<FileZip> {
    const { database, system } = this.#deps
    const { context, entry: contextEntry } = await getContext(database, contextKey)
    if (context.id === CONTEXTS || context.id === PRINCIPALS) {
      throw new InvalidInput('invalid-type', 'Contexts, users and groups are not files.')
    }
    const entries: Entry[] = []
    for (const id of new Set(ids)) {
      const entry = await findEntry(database, { context: context.id, id })
      if (!entry) throw new NotFound('not-found', `There is no entry "${id}" in context ${context.id}.`)
      requireRight(caller, 'readresource', { entry, contextEntry }, `read the entry "${id}"`)
      entries.push(entry)
    }
    const plan = await new Plan(database, caller, contextEntry).of(entries)
    const [first] = plan
    const name = entries.length === 1 && first ? first.path.replace(/\/$/, '') : (context.name ?? context.id)
    const time = new Date(system.now())
    return { name, open: () => writeZip(this.#members(caller, plan, mayGoOn), time) }
  }

  async *#members(
    caller: Caller,
    plan: readonly Planned[],
    mayGoOn: () => Promise<boolean> = async () => true,
  ): AsyncGenerator<ZipMember | ZipFolder> {
    for (const { path, file: address } of plan) {
      if (!(await mayGoOn())) throw new NotFound('not-found', 'What gave access to these files has ended.')
      if (!address) {
        yield { folder: path }
        continue
      }
      // The zip may take hours: the right is checked again for each file.
      const opened = await this.#open(caller, address)
      if (opened) yield { name: path, ...opened }
    }
  }

  async #open(caller: Caller, address: EntryAddress): Promise<Omit<ZipMember, 'name'> | undefined> {
    const { database, files } = this.#deps
    const entry = await findEntry(database, address)
    const contextEntry = await findEntryHead(database, { context: CONTEXTS, id: address.context })
    if (!entry || !contextEntry || !may(caller, 'readresource', { entry, contextEntry })) return undefined
    const found = await files.read(entry, () => 'all')
    return found?.bytes && { isDeflated: isCompressible(mediaTypeOf(entry)), bytes: found.bytes }
  }
}

const isCompressible = (type: string): boolean => /^text\/|[/+](?:json|xml|javascript|csv)$|^image\/svg/.test(type)

/** The paths of all files and folders, folders before what is in them. */
class Plan {
  readonly #database: Database
  readonly #caller: Caller
  readonly #contextEntry: EntryHead
  readonly #planned: Planned[] = []
  /** A list that is selected together with one above it is in the zip once. */
  readonly #passed = new Set<string>()

  constructor(database: Database, caller: Caller, contextEntry: EntryHead) {
    this.#database = database
    this.#caller = caller
    this.#contextEntry = contextEntry
  }

  async of(entries: readonly Entry[]): Promise<readonly Planned[]> {
    await this.#add('', entries)
    return this.#planned
  }

  async #add(folder: string, entries: readonly Entry[]): Promise<void> {
    const names = new FolderNames()
    for (const entry of entries) {
      if (this.#passed.size % TURN === TURN - 1) await nextTurn()
      if (this.#passed.has(entry.id)) continue
      this.#passed.add(entry.id)
      if (!this.#may('readresource', entry)) continue
      if (holdsFile(entry)) this.#push(folder + names.claim(safeName(fileNameOf(entry), entry.id)), entry)
      else if (isList(entry)) {
        const title = this.#may('readmetadata', entry) ? displayName(entry) : entry.id
        const path = `${folder}${names.claim(safeName(title, entry.id))}/`
        this.#push(path, undefined)
        await this.#add(path, await entriesInList(this.#database, entry))
      }
    }
  }

  #push(path: string, file: EntryAddress | undefined): void {
    if (this.#planned.length >= MAX_MEMBERS) {
      throw new TooLarge('zip-too-large', `A zip has at most ${MAX_MEMBERS} files and folders.`, {
        extra: { limit: MAX_MEMBERS },
      })
    }
    this.#planned.push({ path, file: file && { context: file.context, id: file.id } })
  }

  #may(right: 'readresource' | 'readmetadata', entry: Entry): boolean {
    return may(this.#caller, right, { entry, contextEntry: this.#contextEntry })
  }
}
