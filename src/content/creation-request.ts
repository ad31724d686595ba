import type { Graph } from '../graph/graph.ts'
import type { EntryType, GraphType } from '../model/entry.ts'
import type { Read } from './values.ts'

/** The members of the body of a creation (W3.2.1); graphs have relative IRIs. */
export interface CreationBody {
  readonly metadata?: Graph
  readonly cachedExternalMetadata?: Graph
  readonly info?: Graph
  /** Its shape depends on the graph type: a {@link Graph} where the entry holds one. */
  readonly resource?: unknown
}

export interface CreationRequest {
  readonly id: string | undefined
  /** `_newId` in it is replaced with the new id. */
  readonly resource: string | undefined
  readonly externalMetadata: string | undefined
  readonly entryType: EntryType
  readonly graphType: GraphType
  readonly namedResource: boolean
  /** Entry URI of a group that a new user joins. */
  readonly groupUri: string | undefined
  /** Resource URI of the list that the entry is added to. */
  readonly listUri: string | undefined
  /** Entry URI of the template whose metadata are copied. */
  readonly templateUri: string | undefined
  /** Fetches the body. The result is a function that reads it with every `_newId` replaced; it is called more than once. */
  readonly body: Read<(newId: string) => CreationBody>
}

/** The placeholder that clients write for the new id (W1.6). */
export const NEW_ID = '_newId'
