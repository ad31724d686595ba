import { decodeUtf8 } from '../base/text.ts'
import { serveTasks } from '../workers/serve-tasks.ts'
import { type GraphText, graphText, relativeGraph } from './graph.ts'
import { type GraphLimits, requireGraphSize } from './graph-size.ts'
import { type GraphMembers, graphMembersText } from './graph-members.ts'
import { findSyntax, type Syntax } from './syntaxes.ts'

export interface ReadTask {
  readonly mediaType: string
  /** Bytes are UTF-8. */
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

/** Reads one graph, on a worker thread. */
serveTasks(read)

/**
 * The graph as text, which is parsed faster than many small objects are received from another thread; `undefined` if it was only checked.
 */
async function read(task: ReadTask): Promise<GraphText | undefined> {
  const graph = await textOf(task)
  return task.isCheck ? undefined : graph
}

/** @throws {InvalidInput} @throws {TooLarge} */
async function textOf({ mediaType, text, base, relativeTo, limits, members }: ReadTask): Promise<GraphText> {
  const syntax = syntaxOf(mediaType)
  const decoded = typeof text === 'string' ? text : decodeUtf8(text)
  if (members) return await graphMembersText(decoded, members, syntax, relativeTo ?? '', limits)
  const graph = requireGraphSize(await syntax.read(decoded, base, limits.maxStatements), limits)
  return graphText(relativeTo === undefined ? graph : relativeGraph(relativeTo, graph))
}

function syntaxOf(mediaType: string): Syntax {
  const syntax = findSyntax(mediaType)
  if (!syntax) throw new Error(`There is no syntax for ${mediaType}.`)
  return syntax
}
