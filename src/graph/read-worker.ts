import { decodeUtf8, encodeInto } from '../base/text.ts'
import { lowerPriority } from '../workers/lower-priority.ts'
import { collectGarbage } from '../workers/collected.ts'
import { withMoved } from '../workers/moved.ts'
import { serveTasks } from '../workers/serve-tasks.ts'
import { type PlainRefusal, plainRefusal } from '../base/refusals.ts'
import { type Graph, relativeText } from './graph.ts'
import { type GraphLimits, requireGraphSize } from './graph-size.ts'
import { type GraphMembers, graphMembersText } from './graph-members.ts'
import { findSyntax, type Syntax } from './syntaxes.ts'

export interface ReadTask {
  readonly mediaType: string
  /** Bytes are UTF-8, alone in their memory, in which that of the graph is returned. */
  readonly text: string | Uint8Array<ArrayBuffer>
  readonly base: string
  /** IRIs that begin with this become relative. */
  readonly relativeTo: string | undefined
  readonly limits: GraphLimits
  /** Only whether the graph can be read. */
  readonly isCheck: boolean
  /** The text is a JSON object in which these members are graphs of that media type. */
  readonly members?: GraphMembers
}

/**
 * The graph is JSON text in UTF-8: to parse it is quicker than to receive so many small objects from another thread, and bytes are moved
 * where a text would be copied. Without it the graph was only checked.
 */
export type ReadOutcome = { readonly graph?: Uint8Array<ArrayBuffer> } | { readonly refused: PlainRefusal }

/** A document of this length leaves garbage that is worth the time to collect it. */
const LARGE = 1_048_576

lowerPriority()

/** Reads one graph, on a worker thread. */
serveTasks(read)

async function read(task: ReadTask): Promise<ReadOutcome> {
  try {
    const graph = await bytesOf(task)
    // Before the result is parsed elsewhere: together they would take the most memory.
    if (task.text.length >= LARGE) await collectGarbage()
    return graph ? withMoved({ graph }, graph) : {}
  } catch (error) {
    const refused = plainRefusal(error)
    if (!refused) throw error
    return { refused }
  }
}

/** The text of the graph; `undefined` if it is only checked. */
async function bytesOf(task: ReadTask): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const { text, relativeTo, isCheck, members } = task
  if (members) return encodeInto(new Uint8Array(text.length), await textOfMembers(task, members))
  const graph = await graphIn(task)
  if (isCheck) return undefined
  // The decoded text is no longer needed, and that of the graph takes as much.
  if (text.length >= LARGE) await collectGarbage()
  const pieces = relativeTo === undefined ? [JSON.stringify(graph)] : relativeText(relativeTo, graph)
  return encodeInto(typeof text === 'string' ? new Uint8Array(text.length) : text, pieces)
}

/** @throws {InvalidInput} @throws {TooLarge} */
async function textOfMembers(
  { mediaType, text, relativeTo = '', limits }: ReadTask,
  members: GraphMembers,
): Promise<Iterable<string>> {
  const decoded = typeof text === 'string' ? text : decodeUtf8(text)
  return await graphMembersText(decoded, members, syntaxOf(mediaType), relativeTo, limits)
}

/** A function of its own, so that nothing refers to the decoded text any longer. */
async function graphIn({ mediaType, text, base, limits }: ReadTask): Promise<Graph> {
  const syntax = syntaxOf(mediaType)
  const decoded = typeof text === 'string' ? text : decodeUtf8(text)
  return requireGraphSize(await syntax.read(decoded, base, limits.maxStatements), limits)
}

function syntaxOf(mediaType: string): Syntax {
  const syntax = findSyntax(mediaType)
  if (!syntax) throw new Error(`There is no syntax for ${mediaType}.`)
  return syntax
}
