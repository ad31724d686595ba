import { decodeUtf8 } from '../base/text.ts'
import { lowerPriority } from '../workers/lower-priority.ts'
import { collectGarbage } from '../workers/collected.ts'
import { serveTasks } from '../workers/serve-tasks.ts'
import { type PlainRefusal, plainRefusal } from '../workers/refusals.ts'
import { type Graph, relativeText } from './graph.ts'
import { type GraphLimits, requireGraphSize } from './graph-size.ts'
import { findSyntax } from './syntaxes.ts'

export interface ReadTask {
  readonly mediaType: string
  /** Bytes are UTF-8. */
  readonly text: string | Uint8Array
  readonly base: string
  /** IRIs that begin with this become relative. */
  readonly relativeTo: string | undefined
  readonly limits: GraphLimits
  /** Only whether the graph can be read. */
  readonly isCheck: boolean
}

/**
 * The graph is JSON text: to parse it is quicker than to receive so many small objects from another thread. Without it the graph was
 * only checked.
 */
export type ReadOutcome = { readonly graph?: string } | { readonly refused: PlainRefusal }

/** A document of this length leaves garbage that is worth the time to collect it. */
const LARGE = 1_048_576

lowerPriority()

/** Reads one graph, on a worker thread. */
serveTasks(read)

async function read(task: ReadTask): Promise<ReadOutcome> {
  try {
    const outcome = await outcomeOf(task)
    // Before the result is parsed elsewhere: together they would take the most memory.
    if (task.text.length >= LARGE) await collectGarbage()
    return outcome
  } catch (error) {
    const refused = plainRefusal(error)
    if (!refused) throw error
    return { refused }
  }
}

async function outcomeOf(task: ReadTask): Promise<ReadOutcome> {
  const { relativeTo, isCheck } = task
  const graph = await graphIn(task)
  if (isCheck) return {}
  return { graph: relativeTo === undefined ? JSON.stringify(graph) : relativeText(relativeTo, graph) }
}

/** A function of its own, so that the decoded text is given back before that of the graph is made. */
async function graphIn({ mediaType, text, base, limits }: ReadTask): Promise<Graph> {
  const syntax = findSyntax(mediaType)
  if (!syntax) throw new Error(`There is no syntax for ${mediaType}.`)
  const decoded = typeof text === 'string' ? text : decodeUtf8(text)
  return requireGraphSize(await syntax.read(decoded, base, limits.maxStatements), limits)
}
