import type { Caller } from '../accounts/caller.ts'
import { Conflict, InvalidInput, NotFound, TooLarge, WrongMethod } from '../base/errors.ts'
import type { Bytes } from '../base/units.ts'
import { findFile, moveFile } from '../files/file-records.ts'
import type { Ledger } from '../files/quota-ledger.ts'
import { type GraphText, graphText, mapIris, parseGraph } from '../graph/graph.ts'
import type { Queries } from '../stores/database.ts'
import { addsToContext, type Entry, holdsGraph, isList, isOwnAcl, withModification } from '../model/entry.ts'
import {
  cachedMetadataUri,
  CONTEXTS,
  type EntryAddress,
  type EntryKey,
  entryUri,
  metadataUri,
  PRINCIPALS,
  relationsUri,
  resourceUri,
} from '../model/addresses.ts'
import { accessChange, type Changes, type EntryWriter } from './changes.ts'
import { getContext, nextId } from './contexts.ts'
import { inheriting, placeFor, requireList } from './creation-place.ts'
import type { EntryLoader } from './entry-loader.ts'
import { findEntry, findEntryHead, storedBytesOf } from './entry-records.ts'
import {
  appendToList,
  forgetList,
  leaveList,
  listHolding,
  listMembers,
  membersBelow,
  replaceListMembers,
} from './list-records.ts'
import type { Read } from './values.ts'
import { type EntryInContext, may, requireRight } from '../model/rights.ts'

interface Dependencies {
  readonly loader: EntryLoader
  readonly changes: Changes
  readonly ledger: Ledger
}

interface Move {
  readonly entry: EntryAddress
  /** The list that contains the entry now; absent when it is in none, or in any list. */
  readonly from: EntryAddress | undefined
  /** Removes it from any list that contains it. */
  readonly fromAny: boolean
}

/** Moves entries between lists, within a context or into another one (W3.8.5). */
export class ListMoves {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** Resolves to the moved entry, which has a new address if it comes from another context. */
  async move(caller: Caller, key: EntryKey, read: Read<Move>): Promise<Entry> {
    const target = await this.#deps.loader.get(key)
    if (!isList(target.entry)) throw new WrongMethod('POST', ['GET', 'PUT', 'DELETE', 'HEAD'])
    const move = await read()
    requireRight(caller, 'writeresource', target, 'add to this list')
    return await this.#deps.changes.run(caller, async writer => {
      const { tx, caller: mover } = writer
      const place = await placeFor(tx, mover, target.entry.context, resourceUri(target.entry))
      const list = requireList(place.list)
      const { entry, contextEntry } = await requirePlaced(tx, move.entry)
      await this.#leave(writer, { entry, contextEntry }, move)
      if (entry.context === list.context) {
        await appendToList(tx, list, {
          id: entry.id,
          isTrusted: may(mover, 'administer', { entry, contextEntry }),
        })
        await touch(writer, list)
        return entry
      }
      requireMovable(entry.context, list.context)
      // In the other context others may read it. So what was added by people who do not administer it stays, in no list.
      const all = [entry, ...(isList(entry) ? await membersBelow(tx, entry, 'trusted') : [])]
      for (const { id } of all) {
        const one = await findEntryHead(tx, { context: entry.context, id })
        const what = `move the entry "${id}" to another context`
        if (one) requireRight(mover, 'administer', { entry: one, contextEntry }, what)
      }
      await requireNotTooLarge(tx, entry, all)
      const moved = await this.#transfer(writer, all, list.context, one => {
        const renewed = withModification(one, mover.user.id, writer.now)
        return isOwnAcl(one.acl) && !addsToContext(one.acl) ? renewed : inheriting(mover, renewed, place)
      })
      await appendToList(tx, list, { id: moved.id, isTrusted: true })
      await touch(writer, list)
      return moved
    })
  }

  /** Two moves of one entry run one after the other, and the second finds that the entry has left the list (409). */
  async #leave(writer: EntryWriter, { entry, contextEntry }: EntryInContext, { from, fromAny }: Move): Promise<void> {
    const { tx, caller } = writer
    const holding = await listHolding(tx, entry)
    const isThere = holding === undefined ? from === undefined || fromAny : fromAny || isNamed(from, entry, holding)
    if (!isThere) {
      const where = holding === undefined ? 'in no list' : `in the list "${holding}"`
      throw new Conflict('conflict', `The entry "${entry.id}" is ${where} now.`)
    }
    if (holding === undefined) return
    const list = await findEntryHead(tx, { context: entry.context, id: holding })
    if (list) {
      requireRight(caller, 'writeresource', { entry: list, contextEntry }, 'take entries out of their list')
      await writer.updateHead(list, list)
    }
    await leaveList(tx, entry)
  }

  /** Gives entries, the first of which is the root, new addresses in another context, with files and members. */
  async #transfer(
    writer: EntryWriter,
    entries: readonly EntryAddress[],
    context: string,
    change: (entry: Entry) => Entry,
  ): Promise<Entry> {
    const { tx } = writer
    const amount = { bytes: 0, files: 0 }
    for (const entry of entries) {
      const file = await findFile(tx, entry)
      if (file) {
        amount.bytes += file.size
        amount.files++
      }
    }
    const [root] = entries
    if (!root) throw new TypeError('there is nothing to move')
    // Done first: if the quota of the target is exceeded, nothing changes (D7.8).
    await this.#deps.ledger.transfer(tx, root.context, context, amount)

    const addresses = new Map<string, EntryAddress>()
    for (const { id } of entries) addresses.set(id, { context, id: await nextId(tx, context) })
    const rename = renamingAfter(root.context, addresses)
    let first: Entry | undefined
    for (const { id } of entries) {
      const [entry, address] = [await findEntry(tx, { context: root.context, id }), addresses.get(id)]
      if (!entry || !address) continue
      const moved = change({ ...withUris(entry, rename), ...address })
      first ??= moved
      await writer.move(entry, moved, text => renamedText(text, rename))
      writer.record(accessChange(entry, moved))
      await moveFile(tx, entry, address)
    }
    for (const entry of entries) {
      const members = await listMembers(tx, entry)
      await forgetList(tx, entry)
      const address = addresses.get(entry.id)
      if (address && members.length > 0) {
        await replaceListMembers(
          tx,
          address,
          members.flatMap(id => addresses.get(id) ?? []).map(({ id }) => ({ id, isTrusted: true })),
        )
      }
    }
    for (const entry of entries) await writer.delete(entry)
    if (!first)
      throw new NotFound('not-found', `The entry "${root.id}" in context ${root.context} has just been deleted.`)
    return first
  }
}

/** The list may already have been changed in this transaction, when an entry moves to the end of its own list. */
async function touch(writer: EntryWriter, list: EntryAddress): Promise<void> {
  const present = await findEntryHead(writer.tx, list)
  if (present) await writer.updateHead(present, present)
}

const isNamed = (from: EntryAddress | undefined, entry: EntryAddress, holding: string): boolean =>
  from !== undefined && from.context === entry.context && from.id === holding

async function requirePlaced(tx: Queries, address: EntryAddress): Promise<EntryInContext> {
  const { context, entry: contextEntry } = await getContext(tx, address.context)
  const entry = await findEntry(tx, { context: context.id, id: address.id })
  if (entry) return { entry, contextEntry }
  throw new NotFound('not-found', `There is no entry "${address.id}" in context ${address.context}.`)
}

/** Metadata of the entries of one list that move together, with their revisions: each graph is written again with other addresses. */
const MAX_MOVED: Bytes = 64 * 2 ** 20

async function requireNotTooLarge(
  tx: Queries,
  { context, id }: EntryAddress,
  all: readonly EntryAddress[],
): Promise<void> {
  if (all.length === 1) return
  let bytes = 0
  for (const one of all) bytes += await storedBytesOf(tx, { context, id: one.id })
  if (bytes <= MAX_MOVED) return
  const detail = `The list "${id}" and what is in it have more than ${MAX_MOVED / 2 ** 20} MiB of metadata and revisions. Move the lists in it first.`
  throw new TooLarge('list-too-large', detail, { extra: { limit: MAX_MOVED } })
}

/** Rejects users, groups and contexts, which cannot move. */
function requireMovable(from: string, to: string): void {
  if (![from, to].some(context => context === CONTEXTS || context === PRINCIPALS)) return
  throw new InvalidInput('invalid-type', 'Entries of system contexts cannot be moved to another context, nor to them.')
}

type Rename = (iri: string) => string

/** Replaces the URIs of moved entries. */
function renamingAfter(context: string, addresses: ReadonlyMap<string, EntryAddress>): Rename {
  const kinds = [entryUri, resourceUri, metadataUri, relationsUri, cachedMetadataUri]
  const iris = new Map(
    [...addresses].flatMap(([id, address]) => kinds.map(kind => [kind({ context, id }), kind(address)] as const)),
  )
  return iri => iris.get(iri) ?? iri
}

const renamedText = (text: GraphText, rename: Rename): GraphText => graphText(mapIris(parseGraph(text), rename))

/** The entry with the new addresses of the moved entries in its statements. */
function withUris(entry: Entry, rename: Rename): Entry {
  const { externalResource, cachedExternalMetadata: cached, content } = entry
  return {
    ...entry,
    externalResource: externalResource && rename(externalResource),
    statements: mapIris(entry.statements, rename),
    metadata: renamedText(entry.metadata, rename),
    cachedExternalMetadata: cached === undefined ? undefined : renamedText(cached, rename),
    content: holdsGraph(entry) && content !== undefined ? renamedText(content, rename) : content,
  }
}
