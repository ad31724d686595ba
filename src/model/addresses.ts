import { RELATIVE } from '../graph/graph.ts'

/** The system context that holds one entry for each context. */
export const CONTEXTS = '_contexts'
/** The system context that holds one entry for each user and group. */
export const PRINCIPALS = '_principals'

/** The entries of a new store. Other entries of system contexts never get such an id. */
export const isSystemEntry = ({ context, id }: EntryAddress): boolean =>
  (context === CONTEXTS || context === PRINCIPALS) && id.startsWith('_')

/** Identifies an entry: the id of its context and its own id. */
export interface EntryAddress {
  readonly context: string
  readonly id: string
}

/** An entry as the path of a request names it. */
export interface EntryKey {
  /** Id or name of the context. */
  readonly context: string
  readonly entry: string
}

export const entryUri = ({ context, id }: EntryAddress): string => `${RELATIVE}${context}/entry/${id}`
export const metadataUri = ({ context, id }: EntryAddress): string => `${RELATIVE}${context}/metadata/${id}`
/** @param number counts from 1 */
export const revisionUri = (address: EntryAddress, number: number): string => `${metadataUri(address)}?rev=${number}`
export const relationsUri = ({ context, id }: EntryAddress): string => `${RELATIVE}${context}/relations/${id}`
export const cachedMetadataUri = ({ context, id }: EntryAddress): string =>
  `${RELATIVE}${context}/cached-external-metadata/${id}`

/** A context is the resource of its entry, and is addressed by its id alone (W1.1). */
export const resourceUri = ({ context, id }: EntryAddress): string =>
  context === CONTEXTS ? `${RELATIVE}${id}` : `${RELATIVE}${context}/resource/${id}`

export const principalUri = (id: string): string => resourceUri({ context: PRINCIPALS, id })

/** The id of the principal that a relative IRI denotes. Access lists may contain any other IRI as well. */
export const principalIn = (iri: string): string | undefined =>
  /^\.\/_principals\/resource\/([A-Za-z0-9_-]{1,128})$/.exec(iri)?.[1]

/** The context that an entry or resource URI denotes. Clients write `store:homeContext` in either form. */
export function contextIdOf(uri: string): string | undefined {
  return /^\.\/(?:_contexts\/(?:entry|resource)\/)?([A-Za-z0-9_-]+)$/.exec(uri)?.[1]
}

/** The entry that one of its URIs denotes: its entry, resource, metadata or relations URI (W1.1). */
export function addressIn(uri: string): EntryAddress | undefined {
  const found =
    /^\.\/([A-Za-z0-9_-]+)\/(?:entry|resource|metadata|cached-external-metadata|relations)\/([A-Za-z0-9_-]+)$/.exec(uri)
  if (found?.[1] !== undefined && found[2] !== undefined) return { context: found[1], id: found[2] }
  const id = /^\.\/([A-Za-z0-9_-]+)$/.exec(uri)?.[1]
  return id === undefined ? undefined : { context: CONTEXTS, id }
}

/** Identifiers that a client may choose (W1.6). */
export const isId = (text: string): boolean => /^[A-Za-z0-9_-]{1,128}$/.test(text)

/** First path segments that the service itself uses. They cannot be ids or names of contexts. */
const reservedSegments = new Set([
  'auth',
  'echo',
  'lookup',
  'proxy',
  'quota',
  'search',
  'sparql',
  'validator',
  'message',
  'management',
  'favicon.ico',
  'healthz',
  'readyz',
  'openapi.json',
  'store',
  'ui',
])

export const isReservedSegment = (text: string): boolean => reservedSegments.has(text.toLowerCase())
