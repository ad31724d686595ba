import { type Caller } from '../accounts/caller.ts'
import { Conflict, InvalidInput, NotFound } from '../base/errors.ts'
import type { System } from '../base/system.ts'
import { findFile, moveFile } from '../files/file-records.ts'
import type { Ledger } from '../files/quota-ledger.ts'
import { type Graph, renameIris } from '../graph/graph.ts'
import type { Database, Queries } from '../stores/database.ts'
import { isOwnAcl } from '../model/acl.ts'
import {
  cachedMetadataUri,
  CONTEXTS,
  type EntryAddress,
  entryUri,
  metadataUri,
  PRINCIPALS,
  relationsUri,
  resourceUri,
} from '../model/addresses.ts'
import { getContext, nextId } from './contexts.ts'
import { inheriting, placeFor, requireList } from './creation-place.ts'
import { type Entry, withModification } from '../model/entry.ts'
import { deleteEntry, findEntry, insertEntry, updateEntry } from './entry-records.ts'
import { appendToList, forgetList, leaveList, listHolding, listMembers, replaceListMembers } from './list-records.ts'
import { entriesBelow } from './list-tree.ts'
import { addRelations, dropRelations } from './relations.ts'
import { moveRevisions } from './revisions.ts'
import { type EntryInContext, requireRight } from '../model/rights.ts'

interface Dependencies {
  readonly database: Database
  readonly ledger: Ledger
  readonly system: System
}

export interface Move {
  readonly entry: EntryAddress
  /** The list it is in now; absent when it is in none, or wherever it is. */
  readonly from: EntryAddress | undefined
  /** Takes it out of whichever list it is in. */
  readonly fromAny: boolean
}

/** Moving entries from list to list, within a context and to another (wire facts 3.8.5). */
export class ListMoves {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** Resolves to the entry as it is afterwards: with another address when it has come from another context. */
  async move(caller: Caller, target: EntryInContext, move: Move): Promise<Entry> {
    requireRight(caller, 'writeresource', target, 'add to this list')
    return await this.#deps.database.transaction(async tx => {
      const place = await placeFor(tx, caller, target.entry.context, resourceUri(target.entry))
      const list = requireList(place.list)
      const { entry, contextEntry } = await requirePlaced(tx, move.entry)
      await this.#leave(tx, caller, { entry, contextEntry }, move)
      if (entry.context === list.context) {
        await appendToList(tx, list, entry.id)
        await this.#touch(tx, caller, list)
        return entry
      }
      const all = [entry, ...(await entriesBelow(tx, entry))]
      for (const one of all) {
        requireRight(
          caller,
          'administer',
          { entry: one, contextEntry },
          `move the entry "${one.id}" to another context`,
        )
      }
      requireMovable(entry.context, list.context)
      const moved = await this.#transfer(tx, all, list.context, one => {
        const renewed = withModification(one, caller.user.id, this.#deps.system.now())
        return isOwnAcl(one.acl) ? renewed : inheriting(caller, renewed, place)
      })
      await appendToList(tx, list, moved.id)
      await this.#touch(tx, caller, list)
      return moved
    })
  }

  /** Two moves of one entry run one after the other, and the second finds it gone from where it was (409). */
  async #leave(
    tx: Queries,
    caller: Caller,
    { entry, contextEntry }: EntryInContext,
    { from, fromAny }: Move,
  ): Promise<void> {
    const holding = await listHolding(tx, entry)
    const isThere = holding === undefined ? from === undefined || fromAny : fromAny || isNamed(from, entry, holding)
    if (!isThere) {
      const where = holding === undefined ? 'in no list' : `in the list "${holding}"`
      throw new Conflict('conflict', `The entry "${entry.id}" is ${where} now.`)
    }
    if (holding === undefined) return
    const list = await findEntry(tx, { context: entry.context, id: holding })
    if (list) {
      requireRight(caller, 'writeresource', { entry: list, contextEntry }, 'take entries out of their list')
      await this.#touch(tx, caller, list)
    }
    await leaveList(tx, entry)
  }

  /** The list may have been touched a moment ago, when an entry moves to the end of it. */
  async #touch(tx: Queries, caller: Caller, list: EntryAddress): Promise<void> {
    const present = await findEntry(tx, list)
    if (present) await updateEntry(tx, withModification(present, caller.user.id, this.#deps.system.now()))
  }

  /** Gives entries, the first of them the root, new addresses in another context, with files and members. */
  async #transfer(
    tx: Queries,
    entries: readonly Entry[],
    context: string,
    change: (entry: Entry) => Entry,
  ): Promise<Entry> {
    const sizes: number[] = []
    for (const entry of entries) sizes.push((await findFile(tx, entry))?.size ?? 0)
    const [root] = entries
    if (!root) throw new TypeError('there is nothing to move')
    // First of all: without room there, everything stays as it is (D7.8).
    const bytes = sizes.reduce((sum, size) => sum + size, 0)
    await this.#deps.ledger.transfer(tx, root.context, context, bytes)

    const addresses = new Map<string, EntryAddress>()
    for (const { id } of entries) addresses.set(id, { context, id: await nextId(tx, context) })
    const newUris = urisAfter(root.context, addresses)
    let first: Entry | undefined
    for (const entry of entries) {
      const address = addresses.get(entry.id) ?? entry
      const moved = change({ ...withUris(entry, newUris), ...address })
      first ??= moved
      await insertEntry(tx, moved)
      await addRelations(tx, moved)
      await moveFile(tx, entry, address)
      await moveRevisions(tx, entry, address, graph => renameIris(graph, iri => newUris.get(iri) ?? iri))
    }
    for (const entry of entries) {
      const members = await listMembers(tx, entry)
      await forgetList(tx, entry)
      const address = addresses.get(entry.id)
      if (address && members.length > 0) {
        await replaceListMembers(
          tx,
          address,
          members.flatMap(id => addresses.get(id)?.id ?? []),
        )
      }
    }
    for (const entry of entries) {
      await dropRelations(tx, entry)
      await deleteEntry(tx, entry)
    }
    return first ?? root
  }
}

const isNamed = (from: EntryAddress | undefined, entry: Entry, holding: string): boolean =>
  from !== undefined && from.context === entry.context && from.id === holding

async function requirePlaced(tx: Queries, address: EntryAddress): Promise<EntryInContext> {
  const { context, entry: contextEntry } = await getContext(tx, address.context)
  const entry = await findEntry(tx, { context: context.id, id: address.id })
  if (entry) return { entry, contextEntry }
  throw new NotFound('not-found', `There is no entry "${address.id}" in context ${address.context}.`)
}

/** Users, groups and contexts are what they are where they are. */
function requireMovable(from: string, to: string): void {
  if (![from, to].some(context => context === CONTEXTS || context === PRINCIPALS)) return
  throw new InvalidInput('invalid-type', 'Entries of system contexts cannot be moved to another context, nor to them.')
}

/** Every URI of the moved entries, and what it is from now on. */
function urisAfter(context: string, addresses: ReadonlyMap<string, EntryAddress>): ReadonlyMap<string, string> {
  const kinds = [entryUri, resourceUri, metadataUri, relationsUri, cachedMetadataUri]
  return new Map(
    [...addresses].flatMap(([id, address]) => kinds.map(kind => [kind({ context, id }), kind(address)] as const)),
  )
}

/** What an entry says about itself and about those that move with it, it says about their new addresses. */
function withUris(entry: Entry, uris: ReadonlyMap<string, string>): Entry {
  const rename = (iri: string): string => uris.get(iri) ?? iri
  const renamed = (graph: Graph): Graph => renameIris(graph, rename)
  const holdsGraph = entry.graphType === 'Graph' || entry.graphType === 'Pipeline'
  return {
    ...entry,
    externalResource: entry.externalResource === undefined ? undefined : rename(entry.externalResource),
    statements: renamed(entry.statements),
    metadata: renamed(entry.metadata),
    cachedExternalMetadata: entry.cachedExternalMetadata && renamed(entry.cachedExternalMetadata),
    content:
      holdsGraph && entry.content !== undefined
        ? JSON.stringify(renamed(JSON.parse(entry.content) as Graph))
        : entry.content,
  }
}
