import { GUEST } from '../../accounts/users.ts'
import type { Graph } from '../../graph/graph.ts'
import { graphOf, graphText } from '../../graph/graph.ts'
import type { Entry } from '../../model/entry.ts'
import { placeOf, type RevisionNote } from './entry-graph.ts'
import type { QuadTable } from './quad-table.ts'
import type { Report } from './report.ts'
import type { RowTarget } from './row-sink.ts'
import type { Terms } from './terms.ts'

interface Dependencies {
  readonly quads: QuadTable
  readonly terms: Terms
  readonly rows: RowTarget
  readonly report: Report
}

/**
 * Writes the revisions of an entry's metadata. The entry's graph lists them, and the provenance store
 * contains their content; the content of the current one is the metadata themselves.
 */
export async function addRevisions(entry: Entry, notes: readonly RevisionNote[], deps: Dependencies): Promise<void> {
  const { quads, terms, rows, report } = deps
  if (notes.some(({ number }, index) => number !== index + 1)) report.note('revision-gap', placeOf(entry))
  for (const [index, note] of notes.entries()) {
    report.count('revisions')
    const place = `${entry.context}/metadata/${entry.id}?rev=${note.number}`
    const found = quads.find('provenance', terms.base + place)
    const kept = graphOf(terms.graph(quads.read(found), place))
    if (found) report.imported(countOf(kept))
    const isPresent = note.isPresent && index === notes.length - 1
    if (!isPresent && !found) report.note('revision-without-graph', place)
    await rows.add('metadata_revisions', {
      context: entry.context,
      entry: entry.id,
      number: index + 1,
      time: note.time ?? entry.modified,
      author: note.author ?? GUEST,
      metadata: isPresent ? entry.metadata : graphText(kept),
    })
  }
}

export const countOf = (graph: Graph): number =>
  Object.values(graph).reduce(
    (sum, predicates) => sum + Object.values(predicates).reduce((count, objects) => count + objects.length, 0),
    0,
  )
