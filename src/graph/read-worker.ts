import { lowerPriority } from '../workers/lower-priority.ts'
import { clocked } from '../workers/task-clock.ts'
import { type PlainRefusal, plainRefusal } from '../workers/refusals.ts'
import { type GraphLimits, requireGraphSize } from './graph-size.ts'
import { findSyntax } from './syntaxes.ts'

export interface ReadTask {
  readonly mediaType: string
  readonly text: string
  readonly base: string
  readonly limits: GraphLimits
}

/** The graph is JSON text: to parse it is quicker than to receive so many small objects from another thread. */
export type ReadOutcome = { readonly graph: string } | { readonly refused: PlainRefusal }

lowerPriority()

/** Reads one graph, on a worker thread. */
export default clocked(read)

async function read({ mediaType, text, base, limits }: ReadTask): Promise<ReadOutcome> {
  try {
    const syntax = findSyntax(mediaType)
    if (!syntax) throw new Error(`There is no syntax for ${mediaType}.`)
    return { graph: JSON.stringify(requireGraphSize(await syntax.read(text, base, limits.maxStatements), limits)) }
  } catch (error) {
    const refused = plainRefusal(error)
    if (!refused) throw error
    return { refused }
  }
}
