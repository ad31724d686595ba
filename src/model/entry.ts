import type { Milliseconds } from '../base/units.ts'
import type { Graph } from '../graph/graph.ts'
import type { Acl } from './acl.ts'
import { type EntryAddress, resourceUri } from './addresses.ts'

/** Where resource and metadata live (wire facts 1.3). */
export const entryTypes = ['Local', 'Link', 'LinkReference', 'Reference'] as const
export type EntryType = (typeof entryTypes)[number]

/** What kind of resource it is (wire facts 1.4); the names are those of the vocabulary and of search. */
export const graphTypes = [
  'None',
  'Context',
  'SystemContext',
  'User',
  'Group',
  'List',
  'ResultList',
  'String',
  'Graph',
  'Pipeline',
  'PipelineResult',
] as const
export type GraphType = (typeof graphTypes)[number]

/** wire facts 1.5 */
export const resourceTypes = [
  'InformationResource',
  'NamedResource',
  'ResolvableInformationResource',
  'Unknown',
] as const
export type ResourceType = (typeof resourceTypes)[number]

/**
 * What an entry is. Graphs and IRIs are in their inside form. `info` as clients know it is not stored: it is told from
 * these members and taken apart into them (`info.ts`).
 */
/** An entry without what may be long: its graphs, its text. */
export interface EntryHead extends EntryAddress {
  readonly entryType: EntryType
  readonly graphType: GraphType
  readonly resourceType: ResourceType
  /** The resource of an entry that is not Local. */
  readonly externalResource: string | undefined
  /** The remote graph of a LinkReference or Reference. */
  readonly externalMetadata: string | undefined
  readonly created: Milliseconds
  /** Rises with every change, so it tells versions apart. */
  readonly modified: Milliseconds
  /** Id of a user. */
  readonly creator: string | undefined
  /** Ids of users, the creator first. */
  readonly contributors: readonly string[]
  readonly acl: Acl
  readonly cached: Milliseconds | undefined
}

export interface Entry extends EntryHead {
  /** What else `info` says: format, label, status and whatever clients add. */
  readonly statements: Graph
  readonly metadata: Graph
  readonly cachedExternalMetadata: Graph | undefined
  /** The resource of a String (its text), Graph or Pipeline (RDF/JSON). */
  readonly content: string | undefined
  /** Its graphs and its text have not been loaded, as they are too large for the response. For showing only. */
  readonly isAbridged?: true
}

/** The IRI of what the entry is about. */
export const resourceOf = (entry: EntryHead): string => entry.externalResource ?? resourceUri(entry)

/** True when bytes can be uploaded to it. */
export const holdsFile = (entry: Entry): boolean =>
  entry.entryType === 'Local' && entry.graphType === 'None' && entry.resourceType !== 'NamedResource'

/** The entry as it is after a change by somebody: later than before, the author among the contributors. */
export function withModification(entry: Entry, by: string, now: Milliseconds): Entry {
  return {
    ...entry,
    modified: Math.max(now, entry.modified + 1),
    contributors: entry.contributors.includes(by) ? entry.contributors : [...entry.contributors, by],
  }
}

export interface NewEntry extends EntryAddress {
  readonly by: string | undefined
  readonly now: Milliseconds
  readonly entryType?: EntryType
  readonly graphType?: GraphType
  readonly resourceType?: ResourceType
  readonly externalResource?: string | undefined
  readonly externalMetadata?: string | undefined
  readonly acl?: Acl
  readonly statements?: Graph
  readonly metadata?: Graph
  readonly cachedExternalMetadata?: Graph | undefined
  readonly content?: string | undefined
}

/** A new entry shows its creator as its one contributor (wire facts 2.5). */
export const newEntry = ({ by, now, ...given }: NewEntry): Entry => ({
  entryType: 'Local',
  graphType: 'None',
  resourceType: 'InformationResource',
  externalResource: undefined,
  externalMetadata: undefined,
  created: now,
  modified: now,
  creator: by,
  contributors: by === undefined ? [] : [by],
  acl: {},
  statements: {},
  metadata: {},
  cachedExternalMetadata: undefined,
  cached: given.cachedExternalMetadata === undefined ? undefined : now,
  content: undefined,
  ...given,
})
