import type { Bytes } from '../base/units.ts'
import type { Graph } from '../graph/graph.ts'
import { parseGraph } from '../graph/graph-text.ts'
import type { Entry } from '../model/entry.ts'

/** The names of the members that hold graphs. */
type GraphName = 'statements' | 'metadata' | 'cachedExternalMetadata'
type Texts = Readonly<Record<GraphName, string | null>>

/** The texts in the row of an entry, used to estimate its memory. */
const ofEntries = new WeakMap<Entry, Texts>()

/** Approximate memory of an entry that was read from its row, with its graphs parsed. */
export function sizeOf(entry: Entry): Bytes {
  const { statements, metadata, cachedExternalMetadata } = ofEntries.get(entry) ?? {}
  const characters = [statements, metadata, cachedExternalMetadata, entry.content].reduce<number>(
    (sum, text) => sum + (text?.length ?? 0),
    JSON.stringify(entry.acl).length,
  )
  return ENTRY_BYTES + 6 * characters
}

/** The head of an entry, without its access list. */
const ENTRY_BYTES: Bytes = 1000

/**
 * Adds the graphs to an entry; each is parsed when it is first read. A copy of the entry (`{ ...entry }`) has them parsed.
 */
export function withGraphs(rest: Omit<Entry, GraphName>, texts: Texts): Entry {
  let statements: Graph | undefined
  let metadata: Graph | undefined
  let external: Graph | undefined
  const entry = {
    ...rest,
    get statements(): Graph {
      return (statements ??= parseGraph(texts.statements ?? '{}'))
    },
    get metadata(): Graph {
      return (metadata ??= parseGraph(texts.metadata ?? '{}'))
    },
    get cachedExternalMetadata(): Graph | undefined {
      if (texts.cachedExternalMetadata === null) return undefined
      return (external ??= parseGraph(texts.cachedExternalMetadata))
    },
  }
  ofEntries.set(entry, texts)
  return entry
}
