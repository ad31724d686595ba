import { denied } from '../accounts/caller-guards.ts'
import type { Caller } from '../accounts/caller.ts'
import { NotFound, WrongMethod } from '../base/errors.ts'
import type { System } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import { type Graph, type GraphText, graphText } from '../graph/graph.ts'
import { type Entry, hasExternalMetadata } from '../model/entry.ts'
import { type EntryInContext, requireRight, requires } from '../model/rights.ts'
import type { Database } from '../stores/database.ts'
import { metadataChange } from './change-events.ts'
import type { Changes, Conditions, EntryWriter, Precondition } from './changes.ts'
import type { EntryKey } from '../model/addresses.ts'
import type { EntryLoader } from './entry-loader.ts'
import { findEntry } from './entry-records.ts'
import { findCachedMetadata, hasLiveSource, type Lookup, lookUp, mergeGraphs, metadataIn } from './lookup.ts'
import type { ShownGraph } from './resource-kind.ts'
import type { Revisions } from './revisions.ts'

interface ReadDependencies {
  readonly database: Database
  readonly loader: EntryLoader
  readonly revisions: Revisions
}

interface Dependencies extends ReadDependencies {
  readonly changes: Changes
  readonly system: System
}

/** Metadata that the caller may read, and their entry. */
export interface ReadMetadata {
  readonly entry: Entry
  readonly graph: ShownGraph
  /** Identifies the state of the graph. Absent when it also changes with other entries. */
  readonly modified?: Milliseconds
}

interface MetadataRequest {
  /** The number of a revision. */
  readonly revision?: number | undefined
}

/** Reads metadata of entries: those stored here, the copy of those stored elsewhere, and both together (W3.5, W3.6). */
export class MetadataReads {
  readonly #deps: ReadDependencies

  constructor(deps: ReadDependencies) {
    this.#deps = deps
  }

  async read(caller: Caller, key: EntryKey, { revision }: MetadataRequest): Promise<ReadMetadata> {
    const { entry } = await this.#getReadable(caller, key)
    if (entry.entryType === 'Reference') throw new NotFound('not-found', 'A Reference has no metadata here.')
    if (revision !== undefined) return await this.#readRevision(entry, revision)
    return { entry, graph: entry.metadata, modified: entry.modified }
  }

  async #readRevision(entry: Entry, revision: number): Promise<ReadMetadata> {
    const { database, revisions } = this.#deps
    const found = await revisions.find(database, entry, revision)
    if (!found) throw new NotFound('not-found', `There is no revision ${revision} of these metadata.`)
    // A revision never changes, so its tag and date are those of its creation.
    return { entry, graph: found.metadata, modified: found.time }
  }

  /** The copy of metadata stored elsewhere, or the metadata themselves when they belong to an entry of this service. */
  async readCached(caller: Caller, key: EntryKey): Promise<ReadMetadata> {
    const { entry } = await this.#getReadable(caller, key)
    if (!hasExternalMetadata(entry)) throw new NotFound('not-found', 'This entry has no metadata elsewhere.')
    const cached = await findCachedMetadata(this.#deps.database, caller, entry)
    if (!cached) throw denied(caller, 'read the metadata that this entry refers to')
    return { entry, ...cached }
  }

  async readMerged(caller: Caller, key: EntryKey): Promise<ReadMetadata> {
    const { entry } = await this.#getReadable(caller, key)
    const cached = hasExternalMetadata(entry) ? await findCachedMetadata(this.#deps.database, caller, entry) : undefined
    const graph = mergeGraphs(entry.metadata, cached?.graph)
    return hasLiveSource(entry) ? { entry, graph } : { entry, graph, modified: entry.modified }
  }

  /** The metadata of the first entry about a resource that the caller may read (W3.12). */
  async lookUp(caller: Caller, wanted: Lookup): Promise<ReadMetadata | undefined> {
    const { database } = this.#deps
    const found = await lookUp(database, caller, wanted)
    const entry = found && (await findEntry(database, found))
    const graph = entry && (await metadataIn(database, caller, entry, wanted.scope))
    if (!entry || !graph) return undefined
    return hasLiveSource(entry) ? { entry, graph } : { entry, graph, modified: entry.modified }
  }

  async #getReadable(caller: Caller, key: EntryKey): Promise<EntryInContext> {
    const target = await this.#deps.loader.get(key)
    requireRight(caller, 'readmetadata', target, 'read the metadata of this entry')
    return target
  }
}

/** Also changes them. */
export class Metadata extends MetadataReads {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    super(deps)
    this.#deps = deps
  }

  async put(
    caller: Caller,
    key: EntryKey,
    read: (entry: Entry) => Promise<Graph>,
    precondition: Precondition,
  ): Promise<Entry> {
    const target = await this.#deps.loader.get(key)
    if (target.entry.entryType === 'Reference') throw new WrongMethod('Writing local metadata', ['GET', 'HEAD'])
    const check = requires('writemetadata', 'change the metadata of this entry')
    return await this.#replace(caller, target, { check, precondition }, read, (entry, metadata, writer) => {
      const changed = { ...entry, metadata }
      for (const event of metadataChange(entry, changed)) writer.record(event)
      return changed
    })
  }

  /** Replaces the copy of metadata stored elsewhere (W3.6). */
  async putCached(
    caller: Caller,
    key: EntryKey,
    read: (entry: Entry) => Promise<Graph>,
    precondition: Precondition,
  ): Promise<Entry> {
    const target = await this.#deps.loader.get(key)
    if (!hasExternalMetadata(target.entry) || hasLiveSource(target.entry)) {
      throw new WrongMethod('Writing cached external metadata', ['GET', 'HEAD'])
    }
    const check = requires('writemetadata', 'change the cached metadata of this entry')
    return await this.#replace(caller, target, { check, precondition }, read, (entry, cachedExternalMetadata) => ({
      ...entry,
      cachedExternalMetadata,
      cached: Math.max(this.#deps.system.now(), (entry.cached ?? entry.modified) + 1),
    }))
  }

  /** Reads the graph once the right has been checked, and writes the entry with it. */
  async #replace(
    caller: Caller,
    target: EntryInContext,
    conditions: Conditions,
    read: (entry: Entry) => Promise<Graph>,
    withGraph: (entry: Entry, graph: GraphText, writer: EntryWriter) => Entry,
  ): Promise<Entry> {
    conditions.check(caller, target)
    const graph = graphText(await read(target.entry))
    return await this.#deps.changes.change(caller, target, conditions, (entry, writer) =>
      withGraph(entry, graph, writer),
    )
  }
}
