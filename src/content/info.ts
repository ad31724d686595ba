import { InvalidInput, TooLarge } from '../base/errors.ts'
import {
  type Graph,
  graphOf,
  type GraphText,
  graphText,
  literal,
  objectsOf,
  parseGraph,
  type Statement,
  statementsOf,
  type Term,
  uri,
} from '../graph/graph.ts'
import { dct, owl, prov, rdf, store, xsd } from '../graph/vocabulary.ts'
import {
  type Acl,
  type AclSlot,
  aclSlots,
  type Entry,
  type EntryType,
  entryTypes,
  graphTypes,
  hasExternalMetadata,
  resourceOf,
  resourceTypes,
} from '../model/entry.ts'
import {
  cachedMetadataUri,
  contextIdOf,
  entryUri,
  metadataUri,
  PRINCIPALS,
  principalUri,
  relationsUri,
  revisionUri,
} from '../model/addresses.ts'
import type { RevisionNote } from './revisions.ts'
import { setHomeContext } from '../accounts/groups.ts'
import type { Queries } from '../stores/database.ts'
import { requireHomeContext } from './contexts.ts'

/** The part of `info` that is not stored in the entry itself. */
interface InfoContext {
  /** Id of the home context of a user or group. */
  readonly homeContext?: string | undefined
  /** Revisions of the metadata, the oldest first. */
  readonly revisions?: readonly RevisionNote[] | undefined
}

const aclPlaces: Readonly<Record<AclSlot, { of: (entry: Entry) => string; predicate: string }>> = {
  admin: { of: entryUri, predicate: store.write },
  rread: { of: resourceOf, predicate: store.read },
  rwrite: { of: resourceOf, predicate: store.write },
  mread: { of: metadataUri, predicate: store.read },
  mwrite: { of: metadataUri, predicate: store.write },
}

const dateTime = (time: number): Term => literal(new Date(time).toISOString(), xsd.dateTime)

/** The administrative graph of an entry (W2.3). */
export function describeInfo(entry: Entry, { homeContext, revisions = [] }: InfoContext = {}): Graph {
  const e = entryUri(entry)
  const r = resourceOf(entry)
  const x = cachedMetadataUri(entry)
  const statements: Statement[] = []
  const say = (subject: string, predicate: string, object: Term): unknown =>
    statements.push({ subject, predicate, object })

  say(e, store.resource, uri(r))
  if (entry.entryType !== 'Reference') say(e, store.metadata, uri(metadataUri(entry)))
  say(e, store.relation, uri(relationsUri(entry)))
  if (entry.externalMetadata !== undefined) say(e, store.externalMetadata, uri(entry.externalMetadata))
  if (hasExternalMetadata(entry)) say(e, store.cachedExternalMetadata, uri(x))
  if (entry.cached !== undefined) say(x, store.cached, dateTime(entry.cached))
  if (entry.entryType !== 'Local') say(e, rdf.type, uri(store.term(entry.entryType)))
  if (entry.graphType !== 'None') say(r, rdf.type, uri(store.term(entry.graphType)))
  if (entry.resourceType !== 'InformationResource') say(r, rdf.type, uri(store.term(entry.resourceType)))
  say(e, dct.created, dateTime(entry.created))
  say(e, dct.modified, dateTime(entry.modified))
  if (entry.creator !== undefined) say(e, dct.creator, uri(principalUri(entry.creator)))
  for (const contributor of entry.contributors) say(e, dct.contributor, uri(principalUri(contributor)))
  for (const slot of aclSlots) {
    const { of, predicate } = aclPlaces[slot]
    for (const principal of entry.acl[slot] ?? []) say(of(entry), predicate, uri(principal))
  }
  if (homeContext !== undefined) say(r, store.homeContext, uri(entryUri({ context: '_contexts', id: homeContext })))
  for (const revision of revisions) describeRevision(say, entry, revision)
  statements.push(...statementsOf(entry.statements))
  return graphOf(statements)
}

type Say = (subject: string, predicate: string, object: Term) => unknown

/** States a revision in `info` (W2.8). */
function describeRevision(say: Say, entry: Entry, { number, time, author, isPresent }: RevisionNote): void {
  const revision = revisionUri(entry, number)
  say(revision, prov.generatedAtTime, dateTime(time))
  say(revision, prov.wasAttributedTo, uri(principalUri(author)))
  if (number > 1) say(revision, prov.wasRevisionOf, uri(revisionUri(entry, number - 1)))
  if (isPresent) say(revision, owl.sameAs, uri(metadataUri(entry)))
}

/** The changes that a sent `info` requests. Absent members are not changed. */
interface InfoRequest {
  readonly entryType?: EntryType
  readonly graphType?: Entry['graphType']
  readonly resourceType?: Entry['resourceType']
  readonly externalResource?: string
  readonly externalMetadata?: string
  readonly acl: Acl
  readonly homeContextUri?: string
  readonly statements: Graph
}

/** A limit, because every access decision reads the access list. */
const MAX_PRINCIPALS = 1000

/**
 * Parses an `info` graph (W3.3.2): drops what the service generates itself, applies types where they may change,
 * reads the ACL into its slots, and keeps the rest unchanged.
 */
export function readInfo(graph: Graph, entry: Entry): InfoRequest {
  const e = entryUri(entry)
  const external = entry.entryType === 'Local' ? undefined : firstUri(objectsOf(graph, e, store.resource))
  const place: Entry = external === undefined ? entry : { ...entry, externalResource: external }
  const r = resourceOf(place)
  // Clients that change the resource URI may still describe the old one.
  const former = resourceOf(entry)
  const aboutResource = (subject: string): boolean => subject === r || subject === former

  const named = new Map<AclSlot, Set<string>>()
  const asked: { -readonly [Key in keyof InfoRequest]?: InfoRequest[Key] } = {}
  if (external !== undefined) asked.externalResource = external
  const externalMetadata = firstUri(objectsOf(graph, e, store.externalMetadata))
  if (externalMetadata !== undefined) asked.externalMetadata = externalMetadata

  const isKept = ({ subject, predicate, object }: Statement): boolean => {
    if (!meaningful.has(predicate)) return true
    const slot = aclSlots.find(slot => {
      const { of, predicate: aclPredicate } = aclPlaces[slot]
      return predicate === aclPredicate && (subject === of(place) || (aboutResource(subject) && of === resourceOf))
    })
    if (slot !== undefined) {
      if (object.type !== 'uri') throw new InvalidInput('invalid-graph', `A principal of ${predicate} is not a URI.`)
      named.set(slot, (named.get(slot) ?? new Set()).add(object.value))
      return false
    }
    if (predicate === rdf.type) {
      const type = typeIn(object.value, subject === e)
      Object.assign(asked, type)
      return type === undefined
    }
    if (predicate === store.homeContext && aboutResource(subject) && isPrincipal(entry)) {
      if (object.type === 'uri') asked.homeContextUri = object.value
      return false
    }
    return !isManaged(subject, predicate, entry)
  }
  const statements = withSubjectMoved(graphOf([...statementsOf(graph)].filter(isKept)), former, r)
  const acl: Acl = Object.fromEntries([...named].map(([slot, principals]) => [slot, [...principals]]))
  requireFewPrincipals(acl)
  return { ...asked, acl, statements }
}

/** @throws {TooLarge} `graph-too-large` */
export function requireFewPrincipals(acl: Acl): void {
  const principals = aclSlots.reduce((sum, slot) => sum + (acl[slot]?.length ?? 0), 0)
  if (principals <= MAX_PRINCIPALS) return
  throw new TooLarge('graph-too-large', `An access list can contain at most ${MAX_PRINCIPALS} users and groups.`, {
    extra: { limit: MAX_PRINCIPALS },
  })
}

/** The type that an object of `rdf:type` gives the entry or its resource; `undefined` where it is none of the types of the service. */
function typeIn(
  iri: string,
  isOfEntry: boolean,
): Partial<Pick<Entry, 'entryType' | 'graphType' | 'resourceType'>> | undefined {
  const terms = store.term('')
  if (!iri.startsWith(terms)) return undefined
  const isNamed = (type: string): boolean => type === iri.slice(terms.length)
  if (isOfEntry) {
    const entryType = entryTypes.find(isNamed)
    return entryType && { entryType }
  }
  const graphType = graphTypes.find(isNamed)
  if (graphType) return { graphType }
  const resourceType = resourceTypes.find(isNamed)
  return resourceType && { resourceType }
}

const managedOnEntry = new Set<string>([
  store.resource,
  store.metadata,
  store.relation,
  store.externalMetadata,
  store.cachedExternalMetadata,
  dct.created,
  dct.modified,
  dct.creator,
  dct.contributor,
  store.originallyCreatedIn,
])

const managedOnRevisions = new Set<string>([...Object.values(prov), owl.sameAs])

/** The predicates of all statements that are not simply kept. */
const meaningful = new Set<string>([
  ...Object.values(aclPlaces).map(({ predicate }) => predicate),
  rdf.type,
  store.homeContext,
  store.cached,
  ...managedOnEntry,
  ...managedOnRevisions,
])

/** Home contexts are stored with the account; for any other entry the statement is kept like any other. */
const isPrincipal = ({ context, entryType }: Entry): boolean => context === PRINCIPALS && entryType === 'Local'

/** Statements that only the service makes; they are ignored when sent. */
const isManaged = (subject: string, predicate: string, entry: Entry): boolean =>
  (subject === entryUri(entry) && managedOnEntry.has(predicate)) ||
  (subject === cachedMetadataUri(entry) && predicate === store.cached) ||
  (managedOnRevisions.has(predicate) && subject.startsWith(`${metadataUri(entry)}?rev=`))

const firstUri = (terms: readonly Term[]): string | undefined => terms.find(term => term.type === 'uri')?.value

/** The graph with exactly this object, or none, for one subject and predicate. */
export function withStatement(graph: Graph, subject: string, predicate: string, object: Term | undefined): Graph {
  const { [predicate]: _replaced, ...predicates } = graph[subject] ?? {}
  if (object !== undefined) return { ...graph, [subject]: { ...predicates, [predicate]: [object] } }
  const { [subject]: _emptied, ...others } = graph
  return Object.keys(predicates).length === 0 ? others : { ...graph, [subject]: predicates }
}

/** Statements about the old resource URI, changed to the new one (W3.3.2, step 1). */
export const withSubjectMoved = (graph: Graph, from: string, to: string): Graph =>
  from === to || !Object.hasOwn(graph, from)
    ? graph
    : graphOf(
        [...statementsOf(graph)].map(statement =>
          statement.subject === from ? { ...statement, subject: to } : statement,
        ),
      )

/** The service records where an entry was created; a new `info` does not change that (W2.3). */
const keepingOrigin = (entry: Entry, statements: Graph): Graph => {
  const [origin] = objectsOf(entry.statements, entryUri(entry), store.originallyCreatedIn)
  return origin === undefined
    ? statements
    : withStatement(statements, entryUri(entry), store.originallyCreatedIn, origin)
}

/** The entry with its new info applied (W3.3.2, steps 1 to 5). */
export function withInfo(entry: Entry, asked: InfoRequest): Entry {
  const isLocal = entry.entryType === 'Local'
  if (!isLocal) requireSameResult(entry, asked)
  const becomesLinkReference = asked.entryType === 'LinkReference' && !isLocal
  const changed: Entry = {
    ...entry,
    entryType: becomesLinkReference ? 'LinkReference' : entry.entryType,
    graphType: isLocal ? entry.graphType : (asked.graphType ?? 'None'),
    resourceType: isLocal ? entry.resourceType : (asked.resourceType ?? 'InformationResource'),
    externalResource: isLocal ? undefined : (asked.externalResource ?? entry.externalResource),
    acl: asked.acl,
    statements: keepingOrigin(entry, asked.statements),
  }
  const external = asked.externalMetadata ?? entry.externalMetadata
  // A Link may become a LinkReference before its external metadata are known, because clients do so.
  if (changed.entryType === 'Reference' && external === undefined) {
    throw new InvalidInput('invalid-graph', 'A Reference needs the URI of its external metadata.')
  }
  const from = resourceOf(entry)
  const to = resourceOf(changed)
  const moved = (text: GraphText): GraphText =>
    from === to ? text : graphText(withSubjectMoved(parseGraph(text), from, to))
  const { metadata, cachedExternalMetadata: cached } = entry
  return {
    ...changed,
    externalMetadata: hasExternalMetadata(changed) ? external : undefined,
    metadata: moved(metadata),
    cachedExternalMetadata: cached === undefined ? undefined : moved(cached),
  }
}

/**
 * Who may write the result of a pipeline may change its resource at another server, so only the service makes one, and says where its
 * resource is.
 */
function requireSameResult({ graphType, externalResource }: Entry, asked: InfoRequest): void {
  const isResult = graphType === 'PipelineResult'
  if (isResult !== (asked.graphType === 'PipelineResult'))
    throw new InvalidInput('invalid-graph', 'An entry cannot become a PipelineResult, nor cease to be one.')
  if (isResult && (asked.externalResource ?? externalResource) !== externalResource)
    throw new InvalidInput('invalid-graph', 'The resource of a PipelineResult cannot be changed.')
}

/** Clients send the home context of a user or group as a statement of `info`. */
export async function applyHomeContext(tx: Queries, entry: Entry, { homeContextUri }: InfoRequest): Promise<void> {
  if (entry.context !== PRINCIPALS || entry.entryType !== 'Local') return
  const wanted = homeContextUri === undefined ? undefined : (contextIdOf(homeContextUri) ?? homeContextUri)
  await setHomeContext(tx, entry.id, wanted === undefined ? undefined : await requireHomeContext(tx, wanted))
}
