import type { Readable } from 'node:stream'
import { setImmediate as nextIteration } from 'node:timers/promises'
import { type Caller, rateLimitKey } from '../../accounts/caller.ts'
import { presentCaller } from '../../accounts/present-caller.ts'
import { InvalidInput, NotFound, Overloaded, TooLarge } from '../../base/errors.ts'
import type { System } from '../../base/system.ts'
import type { Files } from '../../files/files.ts'
import { writeZip, type ZipFolder, type ZipMember } from '../../files/zip.ts'
import { CONTEXTS, type EntryAddress, PRINCIPALS } from '../../model/addresses.ts'
import { type Entry, type EntryHead, holdsFile, isList } from '../../model/entry.ts'
import { may, requireRight } from '../../model/rights.ts'
import type { Database } from '../../stores/database.ts'
import { portionsOf } from '../../stores/sql.ts'
import { getContext } from '../../content/contexts.ts'
import { findEntry, findEntryHead, findSmallInfos, type HeadWithInfo } from '../../content/entry-records.ts'
import { displayName, fileNameOf, mediaTypeOf } from '../../content/file-description.ts'
import { countListMembers, listMembers, trustedListMembers } from '../../content/list-records.ts'

interface Dependencies {
  readonly database: Database
  readonly files: Files
  readonly system: System
}

interface FileZip {
  /** A name for the zip, without the extension. */
  readonly name: string
  readonly open: () => Readable
}

interface ZipOptions {
  /** Calls its argument when the response with the zip has ended, also if it has none. */
  readonly onEnd: (done: () => void) => void
  /** The caller towards whose limits the zip counts; by default the caller whose rights it has. */
  readonly share?: string
  /**
   * Whose rights count, asked before each file: by default the caller as they are then. When it is nobody or throws, the zip ends there and
   * is broken.
   */
  readonly present?: () => Promise<Caller | undefined>
  /**
   * Leaves out members that were added to a list by people who did not administer them: for callers who get the zip with the rights of
   * another user.
   */
  readonly trustedOnly?: boolean
}

/**
 * Maximum number of entries in one zip: the selected entries and all entries in their lists, including entries that are left out of the
 * zip.
 */
const MAX_ENTRIES = 10_000
/** Maximum number of entries in all zips in progress, and in those of one caller: each takes some 3 kB until its zip has been sent. */
const MAX_IN_PROGRESS = 100_000
const MAX_IN_PROGRESS_OF_ONE = 20_000
/** Entries read by one statement. Other requests run between two statements. */
const PORTION = 50

interface Planned {
  readonly path: string
  /** Absent for a folder. */
  readonly file: EntryAddress | undefined
}

/** Files and folders as one zip, with the names and folders that people see (D25.7). */
export class FileZips {
  readonly #deps: Dependencies
  readonly #inProgress = new EntriesInProgress()

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * The caller must be able to read the resource of each entry; what they may not read in a list is left out. Names are
   * collected first, files are opened one after the other while the zip is read.
   * @throws {NotFound} @throws {Unauthenticated | Forbidden} @throws {TooLarge} `zip-too-large` @throws {Overloaded}
   * @throws {InvalidInput} also when the response ends before all names have been collected
   */
  async open(
    caller: Caller,
    contextKey: string,
    ids: readonly string[],
    { onEnd, share = rateLimitKey(caller), present, trustedOnly = false }: ZipOptions,
  ): Promise<FileZip> {
    const { database, system } = this.#deps
    const { context, entry: contextEntry } = await getContext(database, contextKey)
    if (context.id === CONTEXTS || context.id === PRINCIPALS) {
      throw new InvalidInput('invalid-type', 'Contexts, users and groups are not files.')
    }
    const selected = [...new Set(ids)]
    const listMembersOf = trustedOnly ? trustedListMembers : listMembers
    const counter = this.#inProgress.counter(share, onEnd)
    const plan = await new Plan({ database, caller, contextEntry, listMembersOf, counter }).of(selected)
    const [first] = plan
    const isOne = selected.length === 1 && first !== undefined
    const name = isOne ? first.path.replace(/\/$/, '') : (context.name ?? (await this.#titleOf(caller, contextEntry)))
    const time = new Date(system.now())
    const asked = present ?? (() => presentCaller(database, caller))
    return { name, open: () => writeZip(this.#members(plan, asked), time) }
  }

  /** The title of a context, for those who may read it; otherwise its id. */
  async #titleOf(caller: Caller, contextEntry: EntryHead): Promise<string> {
    if (!may(caller, 'readresource', { entry: contextEntry, contextEntry })) return contextEntry.id
    const entry = await findEntry(this.#deps.database, contextEntry)
    return entry ? displayName(entry) : contextEntry.id
  }

  async *#members(
    plan: readonly Planned[],
    present: () => Promise<Caller | undefined>,
  ): AsyncGenerator<ZipMember | ZipFolder> {
    for (const { path, file: address } of plan) {
      // Entries without a file yield nothing that the reader would wait for.
      await nextIteration()
      // The zip may take hours: session, account and right are checked again for each file.
      const caller = await present()
      if (!caller) throw new NotFound('not-found', 'Your access to these files was revoked during the download.')
      if (!address) {
        yield { folder: path }
        continue
      }
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
    if (!found?.bytes) return undefined
    const isDeflated = isCompressible(mediaTypeOf(entry))
    return { isDeflated, modified: new Date(entry.modified), bytes: found.bytes }
  }
}

const isCompressible = (type: string): boolean => /^text\/|[/+](?:json|xml|javascript|csv)$|^image\/svg/.test(type)

interface PlanSource {
  readonly database: Database
  readonly caller: Caller
  /** Of the context whose entries are in the zip. */
  readonly contextEntry: EntryHead
  readonly listMembersOf: typeof listMembers
  readonly counter: Counter
}

/** Counts the entries of one zip until the end of its response. */
interface Counter {
  /** Counts entries before they are read. @throws {Overloaded} @throws {InvalidInput} like `requireWanted` */
  readonly count: (entries: number) => void
  /** @throws {InvalidInput} when the response has ended, and with it the count */
  readonly requireWanted: () => void
}

/** The entries of the zips that are being made or sent. */
class EntriesInProgress {
  #all = 0
  readonly #ofOne = new Map<string, number>()

  counter(share: string, onEnd: ZipOptions['onEnd']): Counter {
    let own = 0
    let hasEnded = false
    onEnd(() => {
      hasEnded = true
      this.#add(share, -own)
    })
    const requireWanted = (): void => {
      if (hasEnded) throw new InvalidInput('bad-request', 'The client has left.')
    }
    const count = (entries: number): void => {
      requireWanted()
      const ofOne = (this.#ofOne.get(share) ?? 0) + entries
      if (ofOne > MAX_IN_PROGRESS_OF_ONE) {
        throw new Overloaded(
          `Your zips in progress have more than ${MAX_IN_PROGRESS_OF_ONE} entries. Try again when one has finished.`,
        )
      }
      if (this.#all + entries > MAX_IN_PROGRESS) {
        throw new Overloaded(
          `The zips in progress have more than ${MAX_IN_PROGRESS} entries. Try again when some have finished.`,
        )
      }
      own += entries
      this.#add(share, entries)
    }
    return { count, requireWanted }
  }

  #add(share: string, entries: number): void {
    this.#all += entries
    const ofOne = (this.#ofOne.get(share) ?? 0) + entries
    if (ofOne === 0) this.#ofOne.delete(share)
    else this.#ofOne.set(share, ofOne)
  }
}

/** The paths of all files and folders, folders before what is in them. */
class Plan {
  readonly #database: Database
  readonly #caller: Caller
  readonly #contextEntry: EntryHead
  readonly #context: string
  readonly #listMembersOf: typeof listMembers
  readonly #counter: Counter
  readonly #planned: Planned[] = []
  /** Lists that are in the zip already: a list that is selected together with a list above it is included once. */
  readonly #passed = new Set<string>()

  constructor({ database, caller, contextEntry, listMembersOf, counter }: PlanSource) {
    this.#database = database
    this.#caller = caller
    this.#contextEntry = contextEntry
    this.#context = contextEntry.id
    this.#listMembersOf = listMembersOf
    this.#counter = counter
  }

  /** @throws {NotFound} @throws {Unauthenticated | Forbidden} if the caller may not read one of the selected entries */
  async of(selected: readonly string[]): Promise<readonly Planned[]> {
    const contextEntry = this.#contextEntry
    for await (const [id, entry] of this.#read(selected)) {
      if (!entry) throw new NotFound('not-found', `There is no entry "${id}" in context ${this.#context}.`)
      requireRight(this.#caller, 'readresource', { entry, contextEntry }, `read the entry "${id}"`)
    }
    await this.#add('', selected)
    return this.#planned
  }

  async #add(folder: string, ids: readonly string[]): Promise<void> {
    const added = ids.filter(id => !this.#passed.has(id))
    // Before anything of them is read.
    requireFewer(this.#passed.size + added.length)
    this.#counter.count(added.length)
    const names = new FolderNames()
    for await (const [id, entry] of this.#read(added)) {
      if (this.#passed.has(id)) continue
      this.#passed.add(id)
      requireFewer(this.#passed.size)
      if (!entry || !this.#may('readresource', entry)) continue
      if (holdsFile(entry)) {
        const name = await this.#nameOf(entry, entry.hasInfo, fileNameOf)
        this.#planned.push({ path: folder + names.claim(safeName(name, id)), file: { context: this.#context, id } })
      } else if (isList(entry)) {
        const title = this.#may('readmetadata', entry) ? await this.#nameOf(entry, false, displayName) : id
        const path = `${folder}${names.claim(safeName(title, id))}/`
        this.#planned.push({ path, file: undefined })
        requireFewer(await countListMembers(this.#database, entry))
        await this.#add(path, await this.#listMembersOf(this.#database, entry))
      }
    }
  }

  /** Reads entries in portions, without their metadata; `undefined` for one that does not exist. */
  async *#read(ids: readonly string[]): AsyncGenerator<readonly [string, HeadWithInfo | undefined]> {
    for (const some of portionsOf(ids, PORTION)) {
      await nextIteration()
      this.#counter.requireWanted()
      const found = await findSmallInfos(this.#database, this.#context, some)
      for (const id of some) yield [id, found.get(id)]
    }
  }

  /** The name of an entry. An entry that was read in part is read as a whole if the name may be in the rest. */
  async #nameOf(entry: HeadWithInfo, isComplete: boolean, name: (entry: Entry) => string): Promise<string> {
    if (isComplete) return name(entry)
    await nextIteration()
    const whole = await findEntry(this.#database, entry)
    return whole ? name(whole) : entry.id
  }

  #may(right: 'readresource' | 'readmetadata', entry: EntryHead): boolean {
    return may(this.#caller, right, { entry, contextEntry: this.#contextEntry })
  }
}

function requireFewer(entries: number): void {
  if (entries <= MAX_ENTRIES) return
  throw new TooLarge('zip-too-large', `A zip has at most ${MAX_ENTRIES} entries, with all that is in the lists.`, {
    extra: { limit: MAX_ENTRIES },
  })
}

/** Names of files and folders in a zip that any system can extract, each once in its folder. */

const MAX_CHARACTERS = 120
/** Separators, what Windows forbids, control characters, and characters that change the direction of text. */
// eslint-disable-next-line no-control-regex
const unsafe = /[/\\:*?"<>|\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu
/** Devices of Windows, with any extension. Superscript digits count as digits, and spaces before the extension do not. */
const reserved = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[\d\u00b9\u00b2\u00b3]) *(?:\.|$)/i

/** One part of a path, made from a name that a user chose. It is never empty, `.` or `..`. */
function safeName(name: string, otherwise: string): string {
  const cleaned = name.toWellFormed().normalize('NFC').replace(unsafe, '_').trim()
  // Windows drops dots and spaces at the end, so "x." and "x" would be one file.
  const short = shortened(cleaned).replace(/[. ]+$/, '')
  if (short === '') return otherwise
  return reserved.test(short) ? `_${short}` : short
}

/** Keeps the extension of a long name. */
function shortened(name: string): string {
  const characters = [...name]
  if (characters.length <= MAX_CHARACTERS) return name
  const extension = /\.[^.]{1,16}$/.exec(name)?.[0] ?? ''
  return characters.slice(0, MAX_CHARACTERS - extension.length).join('') + extension
}

/** The names that are taken in one folder. */
class FolderNames {
  readonly #taken = new Set<string>()
  /** The next number for each name, so that thousands of files with the same name do not each try all numbers again. */
  readonly #next = new Map<string, number>()

  /** The name itself, or with a number before the extension. */
  claim(name: string): string {
    const [, stem = name, extension = ''] = /^(.+?)(\.[^.]{1,16})?$/.exec(name) ?? []
    const wanted = folded(name)
    for (let number = this.#next.get(wanted) ?? 1; ; number++) {
      const tried = number === 1 ? name : `${stem} (${number})${extension}`
      const key = folded(tried)
      if (this.#taken.has(key)) continue
      this.#taken.add(key)
      this.#next.set(wanted, number + 1)
      return tried
    }
  }
}

/**
 * Equal for names that are one name to Windows or macOS, which do not distinguish case. Upper case also makes one of `ß` and `ss` and of the
 * two small sigmas; lower case before it, of `ẞ` and `ß`.
 */
const folded = (name: string): string => name.toLowerCase().toUpperCase().normalize('NFC')
