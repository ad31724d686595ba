import type { Graph } from '../graph/graph.ts'
import type { Entry } from '../model/entry.ts'

/** The graphs of an entry by the names of its members. */
export type GraphName = 'statements' | 'metadata' | 'cachedExternalMetadata'
type Texts = Readonly<Record<GraphName, string | null>>

/** The text from which a graph was read, or which was made of it: a graph never changes, so neither does its text. */
const ofGraphs = new WeakMap<Graph, string>()
/** The texts in the row of an entry, so that a graph that is only sent is never parsed. */
const ofEntries = new WeakMap<Entry, Texts>()

/** The graph as JSON, in the form in which it is stored: IRIs of this service are relative. */
export function graphText(graph: Graph): string {
  const known = ofGraphs.get(graph)
  if (known !== undefined) return known
  const text = JSON.stringify(graph)
  ofGraphs.set(graph, text)
  return text
}

export function parseGraph(text: string): Graph {
  const graph = JSON.parse(text) as Graph
  ofGraphs.set(graph, text)
  return graph
}

/** The text of a graph of an entry; of an entry that was read from its row, without parsing it. */
export function textOf(entry: Entry, name: GraphName): string | undefined {
  const stored = ofEntries.get(entry)
  if (stored) return stored[name] ?? undefined
  const graph = entry[name]
  return graph && graphText(graph)
}

/** Gives an entry its graphs, each parsed when it is first read. A copy of the entry (`{ ...entry }`) has them parsed. */
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
