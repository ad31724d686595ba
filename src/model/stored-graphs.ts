import type { Bytes, Milliseconds } from '../base/units.ts'
import {
  type Graph,
  graphText,
  type GraphText,
  objectsOf,
  parseGraph,
  type Statement,
  statementsOf,
  type Term,
} from '../graph/graph.ts'
import { statementsIn } from '../graph/graph-text.ts'
import type { Entry, EntryHead } from './entry.ts'

/** The names of the members that hold graphs. */
type GraphName = 'statements' | 'metadata' | 'cachedExternalMetadata'
type GraphTexts = Readonly<Record<GraphName, GraphText | null>>

/** The member with what was read from the row. A copy made with `{ ...entry }` does not have it. */
const STORED = Symbol('stored')

interface Stored extends GraphTexts {
  readonly size: number
  readonly bytes: Bytes
  /** Weak, so that a cached entry takes the memory of its texts, whoever has asked for its graphs. */
  parsed: { [Name in GraphName]?: WeakRef<Graph> } | undefined
}

const storedOf = (entry: object): Stored | undefined => (entry as { readonly [STORED]?: Stored })[STORED]

/**
 * Gives an entry its graphs, which are parsed when they are read: parsing a large one takes ten milliseconds.
 * @param size characters of its row @param bytes approximate memory
 */
export function withStoredGraphs(
  entry: Omit<Entry, GraphName>,
  { statements, metadata, cachedExternalMetadata }: GraphTexts,
  { size, bytes }: Pick<Stored, 'size' | 'bytes'>,
): Entry {
  const value: Stored = { size, bytes, statements, metadata, cachedExternalMetadata, parsed: undefined }
  return Object.defineProperties(Object.defineProperty(entry, STORED, { value }), graphs) as Entry
}

/** Approximate memory of an entry that was read from its row. */
export const memoryOfEntry = (entry: Entry): Bytes => storedOf(entry)?.bytes ?? 0

/** The characters in the row from which an entry was read: of its graphs, its text and its access list. */
export const storedSizeOf = (entry: Entry): number => storedOf(entry)?.size ?? 0

/** The metadata as they are stored; those of an entry that was read from its row are not parsed for it. */
export const metadataText = (entry: Entry): GraphText => storedOf(entry)?.metadata ?? graphText(entry.metadata)

/** The same for the statements of its info. */
export const statementsText = (entry: Entry): GraphText => storedOf(entry)?.statements ?? graphText(entry.statements)

/** The same for the copy of external metadata. */
export const cachedMetadataText = (entry: Entry): GraphText | undefined =>
  storedOf(entry)?.cachedExternalMetadata ?? (entry.cachedExternalMetadata && graphText(entry.cachedExternalMetadata))

/** The statements of a graph. Those of a text that nothing has parsed are read one after the other, and it is not parsed for them. */
export function storedStatements(entry: Entry, name: 'statements' | 'metadata'): Iterable<Statement> {
  const stored = storedOf(entry)
  const text = stored?.[name] ?? undefined
  return text === undefined || stored?.parsed?.[name]?.deref() ? statementsOf(entry[name]) : statementsIn(text)
}

/** Whether the metadata and the copy of external metadata are the same. Those that were read from a row are not parsed for it. */
export const haveSameGraphs = (before: Entry, after: Entry): boolean =>
  metadataText(before) === metadataText(after) && cachedMetadataText(before) === cachedMetadataText(after)

/**
 * The objects of one subject and predicate in the statements of the info. A text without the predicate is not parsed to find out that
 * there are none.
 */
export const infoObjects = (entry: Entry, subject: string, predicate: string): readonly Term[] =>
  statementsText(entry).includes(predicate) ? objectsOf(entry.statements, subject, predicate) : []

/** A copy with other members. Unlike `{ ...entry }` it reads none of them: graphs are parsed when they are read, in the copy as well. */
export function withMembers<T extends EntryHead>(entry: T, members: Partial<T>): T {
  const properties = { ...Object.getOwnPropertyDescriptors(entry), ...Object.getOwnPropertyDescriptors(members) }
  const stored = storedOf(entry)
  if (!stored) return Object.defineProperties({}, properties) as T
  const replaced = Object.fromEntries(graphNames.filter(name => name in members).map(name => [name, null]))
  const value: Stored = { ...stored, ...replaced }
  return Object.defineProperties({}, { ...properties, [STORED]: { value } }) as T
}

/** The entry after a change by a user: `modified` is later than before, and the user is among the contributors. */
export function withModification<T extends EntryHead>(entry: T, by: string, now: Milliseconds): T {
  const changed: Partial<EntryHead> = {
    modified: Math.max(now, entry.modified + 1),
    contributors: entry.contributors.includes(by) ? entry.contributors : [...entry.contributors, by],
  }
  return withMembers<EntryHead>(entry, changed) as T
}

function parsedGraph(stored: Stored, name: GraphName): Graph | undefined {
  const text = stored[name]
  if (text === null) return undefined
  const known = stored.parsed?.[name]?.deref()
  if (known) return known
  const graph = parseGraph(text)
  stored.parsed = { ...stored.parsed, [name]: new WeakRef(graph) }
  return graph
}

const graphProperty = (name: GraphName): PropertyDescriptor & ThisType<object> => ({
  enumerable: true,
  get() {
    return parsedGraph(storedOf(this) as Stored, name)
  },
})

/** The same functions for all entries: with others the engine would keep a description of the members for each entry. */
const graphs = {
  statements: graphProperty('statements'),
  metadata: graphProperty('metadata'),
  cachedExternalMetadata: graphProperty('cachedExternalMetadata'),
}
const graphNames = Object.keys(graphs) as readonly GraphName[]
