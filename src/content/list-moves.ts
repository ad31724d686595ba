import type { Caller } from '../accounts/caller.ts'
import { Conflict, InvalidInput, NotFound, TooLarge, WrongMethod } from '../base/errors.ts'
import type { Bytes } from '../base/units.ts'
import { findFile, moveFile } from '../files/file-records.ts'
import type { Files } from '../files/files.ts'
import type { UsageChange } from '../files/quota-thresholds.ts'
import type { Amount } from '../files/quota-usage.ts'
import type { Ledger } from '../files/quota-ledger.ts'
import { type GraphText, graphText, mapIris, parseGraph } from '../graph/graph.ts'
import type { Queries } from '../stores/database.ts'
import { decidesAlone, type Entry, followsFolder, holdsGraph, isList, withModification } from '../model/entry.ts'
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
import { accessChange, nameIn } from './change-events.ts'
import type { Changes, EntryWriter } from './changes.ts'
import { getContext, nextId } from './contexts.ts'
import { inheriting, placeFor, requireList } from './creation-place.ts'
import type { EntryLoader } from './entry-loader.ts'
import { findEntry, findEntryHead, storedBytesOf } from './entry-records.ts'
import { emptyList, joinList, leaveItsList, scopeInside, setMembers } from './access-scopes.ts'
import { leaveList, listHolding, listMembers, type MemberBelow, membersBelow } from './list-records.ts'
import type { Read } from './values.ts'
import { type EntryInContext, may, requireMayLeave, requireRight } from '../model/rights.ts'

interface Dependencies {
  readonly loader: EntryLoader
  readonly changes: Changes
  readonly ledger: Ledger
  readonly files: Pick<Files, 'reportThresholds'>
}

export interface Move {
  readonly entry: EntryAddress
  /** The list that contains the entry now; absent when it is in none, or in any list. */
  readonly from: EntryAddress | undefined
  /** Removes it from any list that contains it. */
  readonly fromAny: boolean
}

/** Where an entry goes. */
export interface MoveTarget {
  readonly context: string
  /** Id of a list of the context; absent: in no list. */
  readonly list: string | undefined
}

interface Moved {
  readonly moved: Entry
  readonly usage: readonly UsageChange[]
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
    const { moved, usage } = await this.#deps.changes.run(caller, writer =>
      this.moveWithin(writer, { context: target.entry.context, list: target.entry.id }, move),
    )
    await this.#deps.files.reportThresholds(usage)
    return moved
  }

  /**
   * {@link move} as a step of a larger change, also out of every list. What it changes of quotas is reported after the commit
   * ({@link Files.reportThresholds}).
   */
  async moveWithin(writer: EntryWriter, target: MoveTarget, move: Move): Promise<Moved> {
    const { tx, caller: mover } = writer
    const listUri = target.list === undefined ? undefined : resourceUri({ context: target.context, id: target.list })
    // To take an entry out of its list needs no right on the context.
    const isTakenOut = listUri === undefined && move.entry.context === target.context
    const place = isTakenOut ? undefined : await placeFor(tx, mover, target.context, listUri)
    const list = listUri === undefined ? undefined : requireList(place?.list)
    const { entry, contextEntry } = await requirePlaced(tx, move.entry)
    const staysInFolder =
      list !== undefined && entry.context === list.context && entry.folders[0]?.id === scopeInside(list)
    if (!staysInFolder) requireMayLeave(mover, { entry, contextEntry })
    const from = await this.#leave(writer, { entry, contextEntry }, move)
    const to = list ? `${list.context}/${list.id}` : (place?.context ?? entry.context)
    if (!place || entry.context === place.context) {
      if (list) {
        // Within the same folder, the access to the entry stays the same. An entry that follows the folder is trusted: untrusted members
        // follow no folder.
        const isTrusted =
          (staysInFolder && entry.folders.length > 0) || may(mover, 'administer', { entry, contextEntry })
        await joinList(writer, list, entry, isTrusted)
        await writer.touch(list)
      } else await leaveItsList(writer, entry)
      if (from !== to) await writer.recordMoves([entry], from, to)
      return { moved: entry, usage: [] }
    }
    requireMovable(entry.context, place.context)
    // Other people may read the entry in the other context. So members that were added by people who do not administer them stay behind,
    // in no list.
    const all = [entry, ...(isList(entry) ? await membersBelow(tx, entry, 'trusted') : [])]
    for (const { id } of all) {
      const one = await findEntryHead(tx, { context: entry.context, id })
      const what = `move the entry "${id}" to another context`
      if (one) requireRight(mover, 'administer', { entry: one, contextEntry }, what)
    }
    await requireNotTooLarge(tx, entry, all)
    // Done first: if the quota of the target is exceeded, nothing changes (D7.8).
    const usage = await this.#deps.ledger.transfer(tx, entry.context, place.context, await amountOf(tx, all))
    const moved = await this.#transfer(writer, all, place.context, one => {
      const renewed = withModification(one, mover.user.id, writer.now)
      const comesWithFolder = followsFolder(one.acl) && all.some(({ id }) => id === one.folders[0]?.id)
      return decidesAlone(one.acl) || comesWithFolder ? renewed : inheriting(mover, renewed, place)
    })
    if (list) {
      await joinList(writer, list, moved, true)
      await writer.touch(list)
    }
    await writer.recordMoves([moved], from, to)
    return { moved, usage }
  }

  /**
   * Two moves of one entry run one after the other, and the second finds that the entry has left the list (409).
   * @returns where it was: a list as `context/id`, or a context
   */
  async #leave(writer: EntryWriter, { entry, contextEntry }: EntryInContext, { from, fromAny }: Move): Promise<string> {
    const { tx, caller } = writer
    const holding = await listHolding(tx, entry)
    const isThere = holding === undefined ? from === undefined || fromAny : fromAny || isNamed(from, entry, holding)
    if (!isThere) {
      const where = holding === undefined ? 'in no list' : `in the list "${holding}"`
      throw new Conflict('conflict', `The entry "${entry.id}" is ${where} now.`)
    }
    if (holding === undefined) return entry.context
    const list = await findEntryHead(tx, { context: entry.context, id: holding })
    if (list) {
      requireRight(caller, 'writeresource', { entry: list, contextEntry }, 'take entries out of their list')
      await writer.touch(list)
    }
    await leaveList(tx, entry)
    return `${entry.context}/${holding}`
  }

  /** Gives entries, the first of which is the root, new addresses in another context, with files and members. */
  async #transfer(
    writer: EntryWriter,
    entries: readonly MemberBelow[],
    context: string,
    change: (entry: Entry) => Entry,
  ): Promise<Entry> {
    const { tx } = writer
    const [root] = entries
    if (!root) throw new TypeError('there is nothing to move')
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
      const access = accessChange(entry, moved)
      if (access) writer.record({ ...access, detail: { ...access.detail, ...nameIn(moved) } })
      await moveFile(tx, entry, address)
    }
    for (const entry of entries) {
      if (!isList(entry)) continue
      const members = await listMembers(tx, entry)
      await emptyList(writer, entry)
      const address = addresses.get(entry.id)
      const list = address && members.length > 0 ? await findEntryHead(tx, address) : undefined
      if (list) {
        const moved = members.flatMap(id => addresses.get(id) ?? [])
        await setMembers(
          writer,
          list,
          moved.map(({ id }) => ({ id, isTrusted: true })),
        )
      }
    }
    for (const entry of entries) await writer.delete(entry)
    if (!first)
      throw new NotFound('not-found', `The entry "${root.id}" in context ${root.context} has just been deleted.`)
    return first
  }
}

/** Bytes and number of the files of these entries. */
async function amountOf(tx: Queries, entries: readonly EntryAddress[]): Promise<Amount> {
  const amount = { bytes: 0, files: 0 }
  for (const entry of entries) {
    const file = await findFile(tx, entry)
    if (!file) continue
    amount.bytes += file.size
    amount.files++
  }
  return amount
}

const isNamed = (from: EntryAddress | undefined, entry: EntryAddress, holding: string): boolean =>
  from !== undefined && from.context === entry.context && from.id === holding

async function requirePlaced(tx: Queries, address: EntryAddress): Promise<EntryInContext> {
  const { context, entry: contextEntry } = await getContext(tx, address.context)
  const entry = await findEntry(tx, { context: context.id, id: address.id })
  if (entry) return { entry, contextEntry }
  throw new NotFound('not-found', `There is no entry "${address.id}" in context ${address.context}.`)
}

/** Maximum size of the metadata and revisions that move together: each graph is written again with other addresses. */
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

export type Rename = (iri: string) => string

/** Replaces the URIs of moved entries. */
export function renamingAfter(context: string, addresses: ReadonlyMap<string, EntryAddress>): Rename {
  const kinds = [entryUri, resourceUri, metadataUri, relationsUri, cachedMetadataUri]
  const iris = new Map(
    [...addresses].flatMap(([id, address]) => kinds.map(kind => [kind({ context, id }), kind(address)] as const)),
  )
  return iri => iris.get(iri) ?? iri
}

const renamedText = (text: GraphText, rename: Rename): GraphText => graphText(mapIris(parseGraph(text), rename))

/** The entry with the new addresses of the moved entries in its statements. */
export function withUris(entry: Entry, rename: Rename): Entry {
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
