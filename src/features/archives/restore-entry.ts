import { requireSuperUser } from '../../accounts/caller-guards.ts'
import type { Caller } from '../../accounts/caller.ts'
import { Conflict } from '../../base/errors.ts'
import { putFile } from '../../files/file-records.ts'
import type { Incoming } from '../../files/staging.ts'
import type { StagedImports } from './staged-import.ts'
import type { RandomAccess } from '../../files/zip.ts'
import { GUEST } from '../../accounts/users.ts'
import { type Entry, isList } from '../../model/entry.ts'
import type { AccessCheck } from '../../model/rights.ts'
import type { Queries } from '../../stores/database.ts'
import type { Changes, EntryWriter } from '../../content/changes.ts'
import type { EntryLoader } from '../../content/entry-loader.ts'
import { findEntry, findEntryHead, isIdFree } from '../../content/entry-records.ts'
import { displayName } from '../../content/file-description.ts'
import { joinList, settleLists } from '../../content/access-scopes.ts'
import { insertMembership, type Membership } from '../../content/list-records.ts'
import { readArchive, surveyArchive } from './archive-reader.ts'
import { requireOrdinary } from './export.ts'
import type { IriForms } from './format.ts'
import { insertOnce, type Stored, takeFiles, withPrincipals } from './import.ts'
import { Principals } from './principals.ts'

interface Dependencies {
  readonly changes: Changes
  readonly loader: EntryLoader
  readonly stagedImports: StagedImports
}

interface EntryToRestore {
  /** The id of the entry. All other entries of the archive are inside it. */
  readonly id: string
  /** Whether a present entry with this id gets the old content. */
  readonly replaces: boolean
  readonly form: IriForms
}

/** Brings entries of an archive back into a context, beside the present ones. */
export class EntryRestore {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * Adds the entries in one transaction, with their files within the quota; an error leaves everything unchanged. A present entry that is
   * replaced keeps its place in a list, and its revisions.
   * @throws {Conflict} `id-taken` @throws {InvalidInput} `invalid-archive` @throws {TooLarge} `file-too-large`, `quota-exceeded`
   * @returns the number of entries
   */
  async restore(
    caller: Caller,
    contextKey: string,
    incoming: Incoming,
    { id, replaces, form }: EntryToRestore,
  ): Promise<number> {
    const { loader, changes, stagedImports } = this.#deps
    const target = await loader.getContextEntry(contextKey)
    const check: AccessCheck = caller => requireSuperUser(caller, 'restore an entry')
    check(caller, target)
    const context = target.entry.id
    requireOrdinary(context)
    return await stagedImports.receive(
      context,
      incoming,
      async staged => {
        await staged.reserve(await surveyArchive(staged.archive))
        const stored = await takeFiles(staged, staged.archive, context, form)
        return await changes.run(
          caller,
          async writer => {
            const { tx } = writer
            await writer.recheck(target, check)
            const present = await requirePlace(tx, { context, id, replaces })
            const entries = await staged.replaceFiles(tx, async () => {
              const source = { archive: staged.archive, context, form, stored }
              return await insertEntries(writer, source, present)
            })
            const [root] = entries
            const name = root ? displayName(root) : id
            writer.record({ event: 'entry-restored', detail: { context, entry: id, name, entries: entries.length } })
            return entries.length
          },
          { ownCommit: true },
        )
      },
      [id],
    )
  }
}

/** The present entry that is to be replaced, if any. @throws {Conflict} */
async function requirePlace(
  tx: Queries,
  { context, id, replaces }: { readonly context: string; readonly id: string; readonly replaces: boolean },
): Promise<Entry | undefined> {
  const present = await findEntry(tx, { context, id })
  if (present && replaces) return present
  if (present) throw new Conflict('id-taken', `There is an entry "${id}" in context ${context}.`)
  if (await isIdFree(tx, { context, id })) return undefined
  throw new Conflict('id-taken', `The entry "${id}" is in the trash of context ${context}.`)
}

interface Archived {
  readonly archive: RandomAccess
  readonly context: string
  readonly form: IriForms
  readonly stored: Stored
}

/** Inserts the entries, or gives `present` the content of the archived one. Resolves to them. */
async function insertEntries(
  writer: EntryWriter,
  { archive, context, form, stored }: Archived,
  present: Entry | undefined,
): Promise<readonly Entry[]> {
  const { tx } = writer
  const principals = new Principals({ isSameStore: true })
  const restored = new Map<string, Entry>()
  const places: Array<readonly [Entry, Membership]> = []
  for await (const item of readArchive(archive, context, form)) {
    if (item.kind === 'principal') await principals.note(tx, item.principal)
    if (item.kind === 'entry') {
      const entry = withPrincipals(item.entry, principals)
      restored.set(entry.id, entry)
      if (entry.id === present?.id) await replaceEntry(writer, present, entry)
      else await insertOnce(writer, entry)
      if (entry.id !== present?.id && item.list) places.push([entry, item.list])
    }
    if (item.kind === 'file') {
      const file = stored.get(item.id)
      if (!file) throw new TypeError('the archive changed during the restore')
      // The user to whose quota the file counts is found when all entries are there.
      await putFile(tx, { context, id: item.id, user: null }, file)
    }
    if (item.kind === 'revision' && item.entryId !== present?.id) {
      const { number, time, author, metadata } = item.revision
      const known = { number, time, author: principals.idOf(author) ?? GUEST }
      await writer.insertRevision({ context, id: item.entryId }, known, metadata)
    }
  }
  for (const [entry, place] of places) await putBack(writer, entry, place, restored)
  await settleLists(writer, [...restored.values()].filter(isList))
  return [...restored.values()]
}

/** @throws {Conflict} */
async function replaceEntry(writer: EntryWriter, present: Entry, archived: Entry): Promise<void> {
  if (present.graphType !== archived.graphType || present.entryType !== archived.entryType) {
    throw new Conflict('id-taken', `The entry "${present.id}" is of another type now: delete it first.`)
  }
  const { created, creator, contributors } = present
  await writer.endUploads(present)
  await writer.update(present, { ...archived, created, creator, contributors })
}

/** Puts the entry at its place in a list that was restored with it; otherwise at the end of its list, if that list still exists. */
async function putBack(
  writer: EntryWriter,
  entry: Entry,
  place: Membership,
  restored: ReadonlyMap<string, Entry>,
): Promise<void> {
  const { tx } = writer
  if (restored.has(place.list)) return await insertMembership(tx, entry, place)
  const list = await findEntryHead(tx, { context: entry.context, id: place.list })
  if (!list || !isList(list)) return
  await joinList(writer, list, entry, place.isTrusted)
  await writer.updateHead(list, list)
}
