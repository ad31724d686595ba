import { setImmediate as nextIteration } from 'node:timers/promises'
import { requireSuperUser } from '../../accounts/caller-guards.ts'
import type { Caller } from '../../accounts/caller.ts'
import type { StagedImport, StagedImports } from './staged-import.ts'
import { type FileRecord, putFile } from '../../files/file-records.ts'
import type { Incoming } from '../../files/staging.ts'
import type { Bytes } from '../../base/units.ts'
import { type Queries, UniqueViolation } from '../../stores/database.ts'
import { GUEST } from '../../accounts/users.ts'
import type { EntryAddress } from '../../model/addresses.ts'
import { type Entry, isList, mapAcl } from '../../model/entry.ts'
import type { Changes, EntryWriter } from '../../content/changes.ts'
import { skipNumbers } from '../../content/contexts.ts'
import type { EntryLoader } from '../../content/entry-loader.ts'
import { modificationTimes } from '../../content/entry-records.ts'
import { settleLists } from '../../content/access-scopes.ts'
import {
  forgetList,
  forgetListsOf,
  insertMembership,
  listsWithMembers,
  type Membership,
} from '../../content/list-records.ts'
import type { AccessCheck } from '../../model/rights.ts'
import { bytesOf, readArchive, surveyArchive } from './archive-reader.ts'
import { requireOrdinary } from './export.ts'
import type { TranslateArchive, TranslationHints } from '../../core/translate-archive.ts'
import type { IriForms } from './format.ts'
import type { RandomAccess } from '../../files/zip.ts'
import { Principals } from './principals.ts'
import { wrong } from './read-lines.ts'

interface Dependencies {
  readonly changes: Changes
  readonly loader: EntryLoader
  readonly stagedImports: StagedImports
  /** Translates archives of other programs. */
  readonly translate: TranslateArchive
}

export interface Imported {
  readonly entries: number
  readonly files: number
  /** Total size of all files. */
  readonly bytes: Bytes
  /** The report about an archive of another program. */
  readonly report?: unknown
}

interface ImportOptions extends TranslationHints {
  readonly form: IriForms
  /** The archive is of this store at another time ({@link Principals}). */
  readonly isSameStore?: boolean
}

/** Prepares the context at the beginning of the transaction that fills it. */
type Begin = (writer: EntryWriter) => Promise<void>

export type Stored = ReadonlyMap<string, FileRecord>

/** After this many entries, other requests run. */
const BATCH = 50

/** Replaces everything in a context with the content of an archive (W3.16). */
export class ContextImport {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * Reads the whole archive, stores its files within the quota, and then replaces the content of the context in one
   * transaction: until then, and after any error, abort or crash, everything is unchanged. The context's own entry, with its
   * access list, name and quota, stays.
   * @throws {InvalidInput} `invalid-archive` @throws {TooLarge} `file-too-large`, `quota-exceeded`
   */
  async import(caller: Caller, contextKey: string, incoming: Incoming, options: ImportOptions): Promise<Imported> {
    const target = await this.#deps.loader.getContextEntry(contextKey)
    const check: AccessCheck = caller => requireSuperUser(caller, 'import a context')
    check(caller, target)
    const begin: Begin = async writer => void (await writer.recheck(target, check))
    return await this.#fill(caller, target.entry.id, { incoming, begin, ...options })
  }

  /**
   * The same for a context of this store that has been deleted: `make` makes it in the transaction that fills it, so there is no such context
   * before, nor after any error, abort or crash.
   * @throws {InvalidInput} `invalid-archive` @throws {TooLarge} `file-too-large`, `quota-exceeded`
   */
  async importDeleted(
    caller: Caller,
    context: string,
    incoming: Incoming,
    { form, make }: { readonly form: IriForms; readonly make: (writer: EntryWriter) => Promise<void> },
  ): Promise<Imported> {
    requireSuperUser(caller, 'restore a context')
    const begin: Begin = async writer => {
      requireSuperUser(writer.caller, 'restore a context')
      await make(writer)
    }
    return await this.#fill(caller, context, { incoming, begin, form, isSameStore: true, groups: new Map() })
  }

  async #fill(
    caller: Caller,
    context: string,
    {
      incoming,
      begin,
      form,
      isSameStore,
      ...hints
    }: ImportOptions & { readonly incoming: Incoming; readonly begin: Begin },
  ): Promise<Imported> {
    requireOrdinary(context)
    return await this.#deps.stagedImports.receive(context, incoming, async staged => {
      const translated = await this.#deps.translate(staged.archive, hints)
      try {
        const archive = translated?.archive ?? staged.archive
        await staged.reserve(await surveyArchive(archive))
        const stored = await takeFiles(staged, archive, context, form)
        const replaced = await this.#deps.changes.run(
          caller,
          async writer => {
            await begin(writer)
            const { entries, files, bytes } = await replaceContent(writer, {
              staged,
              archive,
              context,
              form,
              stored,
              isSameStore,
            })
            writer.record({ event: 'context-imported', detail: { context, entries, files } })
            return { entries, files, bytes }
          },
          { ownCommit: true },
        )
        return translated ? { ...replaced, report: translated.report } : replaced
      } finally {
        await translated?.close()
      }
    })
  }
}

/** The first pass through the archive: checks all its content, stores the files and verifies their digests. */
export async function takeFiles(
  staged: StagedImport,
  archive: RandomAccess,
  context: string,
  form: IriForms,
): Promise<Stored> {
  const stored = new Map<string, FileRecord>()
  for await (const item of readArchive(archive, context, form)) {
    if (item.kind !== 'file') continue
    const file = await staged.stage(bytesOf(item.open))
    if (file.sha256 !== item.sha256) throw wrong(`the file of "${item.id}" has the wrong SHA-256`)
    stored.set(item.id, file)
  }
  return stored
}

interface Replacement {
  readonly staged: StagedImport
  readonly archive: RandomAccess
  readonly context: string
  readonly form: IriForms
  readonly stored: Stored
  readonly isSameStore: boolean | undefined
}

/** Second pass through the archive, inside the transaction. */
async function replaceContent(writer: EntryWriter, { staged, ...source }: Replacement): Promise<Imported> {
  const { tx } = writer
  const { context } = source
  const before = await modificationTimes(tx, context)
  return await staged.replaceFiles(tx, async () => {
    await forgetListsOf(tx, context)
    await writer.deleteAllOf(context)
    return await insertItems(writer, source, before)
  })
}

/** Inserts the entries, revisions and records of files. @param before when the present entries were modified, by id */
async function insertItems(
  writer: EntryWriter,
  { archive, context, form, stored, isSameStore }: Omit<Replacement, 'staged'>,
  before: Awaited<ReturnType<typeof modificationTimes>>,
): Promise<Imported> {
  const { tx } = writer
  const principals = new Principals({ isSameStore })
  const lists = new Lists()
  const imported = { entries: 0, files: 0, bytes: 0 }
  for await (const item of readArchive(archive, context, form)) {
    switch (item.kind) {
      case 'manifest':
        await skipNumbers(tx, context, item.manifest.lastNumber)
        break
      case 'principal':
        await principals.note(tx, item.principal)
        break
      case 'entry': {
        const entry = later(withPrincipals(item.entry, principals), before.get(item.entry.id))
        await insertOnce(writer, entry)
        if (item.list) await insertMembership(tx, entry, item.list)
        lists.note(entry, item.list)
        if (++imported.entries % BATCH === 0) await nextIteration()
        break
      }
      case 'file': {
        const file = stored.get(item.id)
        if (!file) throw new TypeError('the archive changed during the import')
        // The user is found once all entries are there.
        await putFile(tx, { context, id: item.id, user: null }, file)
        imported.files++
        imported.bytes += file.size
        break
      }
      case 'revision': {
        const { number, time, author, metadata } = item.revision
        const known = { number, time, author: principals.idOf(author) ?? GUEST }
        await writer.insertRevision({ context, id: item.entryId }, known, metadata)
        break
      }
    }
  }
  await lists.settle(tx, context)
  await settleLists(writer, lists.all(context))
  return imported
}

export async function insertOnce(writer: EntryWriter, entry: Entry): Promise<void> {
  try {
    await writer.insert(entry, { keepsRevision: false })
  } catch (error) {
    if (!(error instanceof UniqueViolation)) throw error
    throw wrong(`the entry "${entry.id}" occurs twice`)
  }
}

export const withPrincipals = (entry: Entry, principals: Principals): Entry => ({
  ...entry,
  creator: entry.creator === undefined ? undefined : principals.idOf(entry.creator),
  contributors: entry.contributors.flatMap(id => principals.idOf(id) ?? []),
  acl: mapAcl(entry.acl, list => list.map(iri => principals.iriOf(iri))),
})

/** Modification times identify versions: an entry that replaces one with the same id must have a later one. */
const later = (entry: Entry, before: number | undefined): Entry =>
  before === undefined ? entry : { ...entry, modified: Math.max(entry.modified, before + 1) }

/** Checks that entries are members of lists only, and that no list contains itself. */
class Lists {
  /** Maps a list to the list that contains it. */
  readonly #holding = new Map<string, string | undefined>()

  note(entry: Entry, membership: Membership | undefined): void {
    if (isList(entry)) this.#holding.set(entry.id, membership?.list)
  }

  all(context: string): EntryAddress[] {
    return [...this.#holding.keys()].map(id => ({ context, id }))
  }

  /** Ends memberships of lists that the archive does not contain, as deleting the list would. @throws {InvalidInput} */
  async settle(tx: Queries, context: string): Promise<void> {
    for (const list of await listsWithMembers(tx, context)) {
      if (!this.#holding.has(list)) await forgetList(tx, { context, id: list })
    }
    const proved = new Set<string>()
    for (const start of this.#holding.keys()) {
      const way = new Set<string>()
      for (let at: string | undefined = start; at !== undefined && !proved.has(at); at = this.#holding.get(at)) {
        if (way.has(at)) throw wrong(`the list "${at}" is inside itself`)
        way.add(at)
      }
      for (const one of way) proved.add(one)
    }
  }
}
