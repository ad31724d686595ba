import type { Graph } from '../../graph/graph.ts'
import type { Acl, EntryType, GraphType, ResourceType } from '../../model/entry.ts'

/** The archive of a context, as docs/concepts.md describes it. The members of the zip have exactly this order. */
export const FORMAT = 'stowage-context'
export const VERSION = 1

export const MANIFEST = 'manifest.json'
export const SUMMARY = 'summary.json'
/** @param number counts from 1 */
export const batchName = (number: number): string => `entries/${String(number).padStart(6, '0')}.ndjson`
export const fileName = (id: string): string => `files/${id}`

/** The first member: format, origin and version. */
export interface Manifest {
  readonly format: typeof FORMAT
  readonly version: typeof VERSION
  /** Base address of the service that exported it: IRIs that begin with it are addresses of that service. */
  readonly base: string
  /** Id of the context. */
  readonly context: string
  readonly exported: string
  readonly metadataOnly: boolean
  /** The last number that was used as an id. */
  readonly lastNumber: number
}

/** The last member: its totals show whether anything is missing. */
export interface Summary {
  readonly entries: number
  readonly revisions: number
  readonly files: number
  /** Total size of all files. */
  readonly bytes: number
}

/** One line of a batch has one of these members. */
export interface Line {
  readonly principal?: PrincipalLine
  readonly entry?: EntryLine
  readonly revision?: RevisionLine
}

/**
 * A user or group that later lines refer to. Ids have no meaning in another store; there, users and groups are found by
 * name.
 */
export interface PrincipalLine {
  readonly id: string
  readonly kind: 'user' | 'group'
  readonly name?: string | undefined
}

/** An entry. IRIs are absolute, times are ISO 8601 with milliseconds, users are ids. */
export interface EntryLine {
  readonly id: string
  readonly entryType: EntryType
  readonly graphType: GraphType
  readonly resourceType: ResourceType
  readonly resource?: string | undefined
  readonly externalMetadata?: string | undefined
  readonly created: string
  readonly modified: string
  readonly creator?: string | undefined
  readonly contributors: readonly string[]
  readonly acl: Acl
  /** The statements of `info` that no other member of the line covers. */
  readonly info: Graph
  readonly metadata: Graph
  readonly cachedExternalMetadata?: Graph | undefined
  readonly cached?: string | undefined
  readonly text?: string | undefined
  readonly graph?: Graph | undefined
  /** `trusted` is false where who added the entry to the list did not administer it. */
  readonly list?: { readonly id: string; readonly position: number; readonly trusted?: boolean } | undefined
  /** The file is the next member of the zip. */
  readonly file?: FileLine | undefined
}

export interface FileLine {
  readonly size: number
  /** Lower-case hexadecimal. */
  readonly sha256: string
}

/** A revision of the metadata of the preceding entry; numbers count from 1. */
export interface RevisionLine {
  readonly entry: string
  readonly number: number
  readonly time: string
  readonly author: string
  readonly metadata: Graph
}

/** The absolute form of IRIs of the service; code in this module uses only their relative form. */
export interface IriForms {
  readonly href: string
  toAbsolute(iri: string): string
  toRelative(iri: string): string
  absoluteGraph(graph: Graph): Graph
}
