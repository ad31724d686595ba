import type { Bytes, Milliseconds } from '../base/units.ts'
import { type Graph, type GraphText, graphText } from '../graph/graph.ts'
import { CONTEXTS, type EntryAddress, PRINCIPALS, principalUri, resourceUri } from './addresses.ts'
import { GUEST, OF_CONTEXT, OF_FOLDER, USERS } from '../accounts/users.ts'

/** Where resource and metadata are stored (W1.3). */
export const entryTypes = ['Local', 'Link', 'LinkReference', 'Reference'] as const
export type EntryType = (typeof entryTypes)[number]

/** What kind of resource it is (W1.4); the names are those of the vocabulary and of search. */
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

/** What the resource of an entry is (W1.5). */
export const resourceTypes = [
  'InformationResource',
  'NamedResource',
  'ResolvableInformationResource',
  'Unknown',
] as const
export type ResourceType = (typeof resourceTypes)[number]

/** The access that a folder gives to everything in it. */
export interface FolderAccess {
  readonly id: string
  readonly acl: Acl
}

/** An entry without its large parts: graphs and text. */
export interface EntryHead extends EntryAddress {
  readonly entryType: EntryType
  readonly graphType: GraphType
  readonly resourceType: ResourceType
  /** The resource of an entry that is not Local. */
  readonly externalResource: string | undefined
  /** The remote graph of a LinkReference or Reference. */
  readonly externalMetadata: string | undefined
  readonly created: Milliseconds
  /** Increases with every change, so it identifies a version. */
  readonly modified: Milliseconds
  /** Id of a user. */
  readonly creator: string | undefined
  /** Ids of users, the creator first. */
  readonly contributors: readonly string[]
  readonly acl: Acl
  /**
   * The folders whose access lists count for this entry too, the nearest first (adr: access-follows-folders). They are read with the entry
   * by one statement, so that both are from the same moment. Empty for an entry that is in no such folder.
   */
  readonly folders: readonly FolderAccess[]
  readonly cached: Milliseconds | undefined
  /** Ids of the groups of a user. Only loaded where names are not for everybody. */
  readonly groups?: readonly string[]
}

/**
 * An entry. Graphs and IRIs are in their stored (relative) form. The `info` that clients see is not stored: `info.ts` builds
 * it from these members and parses it into them.
 */
export interface Entry extends EntryHead {
  /** The other statements of `info`: format, label, status and any that clients add. */
  readonly statements: Graph
  readonly metadata: GraphText
  readonly cachedExternalMetadata: GraphText | undefined
  /** The resource of a String (its text), Graph or Pipeline (RDF/JSON). */
  readonly content: string | undefined
  /** Graphs and text have not been loaded, because they are too large for the response. For display only. */
  readonly isAbridged?: true
}

/** The data of an entry that can be read without its graphs. */
export interface EntrySummary {
  readonly entryType: EntryType
  readonly graphType: GraphType
  /** Of its graphs and its text. */
  readonly size: Bytes
}

/** The IRI of the resource that the entry describes. */
export const resourceOf = (entry: EntryHead): string => entry.externalResource ?? resourceUri(entry)

/** True for entry types whose metadata, or a part of them, are stored elsewhere (W1.3). */
export const hasExternalMetadata = ({ entryType }: Pick<EntryHead, 'entryType'>): boolean =>
  entryType === 'Reference' || entryType === 'LinkReference'

/** True when a file can be uploaded to the entry. */
export const holdsFile = (entry: Pick<EntryHead, 'entryType' | 'graphType' | 'resourceType'>): boolean =>
  entry.entryType === 'Local' && entry.graphType === 'None' && entry.resourceType !== 'NamedResource'

/** True when the resource is a graph that is stored in the row of the entry. */
export const holdsGraph = ({ graphType }: Pick<EntryHead, 'graphType'>): boolean =>
  graphType === 'Graph' || graphType === 'Pipeline'

/** True when the resource, a text or graph, is stored in the row of the entry. */
export const holdsContent = (entry: Pick<EntryHead, 'entryType' | 'graphType'>): boolean =>
  entry.entryType === 'Local' && (entry.graphType === 'String' || holdsGraph(entry))

/** Lists store the order of their members; an entry is in at most one list of its context (W3.8.5). */
export const isList = ({ entryType, graphType }: Pick<EntryHead, 'entryType' | 'graphType'>): boolean =>
  entryType === 'Local' && (graphType === 'List' || graphType === 'ResultList')

/** True for entries of the system contexts: their rows belong to accounts or to a context. */
export const isOfSystemContext = ({ entryType, graphType }: Pick<EntryHead, 'entryType' | 'graphType'>): boolean =>
  entryType === 'Local' && ['Context', 'SystemContext', 'User', 'Group'].includes(graphType)

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

/** The user for whom the file of an entry counts: its creator, guests excepted. */
export const payingUser = ({ creator }: Pick<Entry, 'creator'>): string | null =>
  creator === undefined || creator === GUEST ? null : creator

/** A new entry has its creator as its only contributor (W2.5). */
export const newEntry = ({ by, now, metadata = {}, cachedExternalMetadata, ...given }: NewEntry): Entry => ({
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
  folders: [],
  statements: {},
  metadata: graphText(metadata),
  cachedExternalMetadata: cachedExternalMetadata && graphText(cachedExternalMetadata),
  cached: cachedExternalMetadata === undefined ? undefined : now,
  content: undefined,
  ...given,
})

/** The entry after a change by a user: `modified` is later than before, and the user is among the contributors. */
export const withModification = <T extends EntryHead>(entry: T, by: string, now: Milliseconds): T => ({
  ...entry,
  modified: Math.max(now, entry.modified + 1),
  contributors: entry.contributors.includes(by) ? entry.contributors : [...entry.contributors, by],
})

/** The five lists of principals an entry may carry (W2.4). */
export const aclSlots = ['admin', 'rread', 'rwrite', 'mread', 'mwrite'] as const
export type AclSlot = (typeof aclSlots)[number]

/** Resource IRIs of principals, stored exactly as given and unchecked. An absent slot is empty. */
export type Acl = Readonly<Partial<Record<AclSlot, readonly string[]>>>

/** An entry with its own ACL does not use the defaults of its context (W4.2, rule 4). */
export const isOwnAcl = (acl: Acl): boolean => aclSlots.some(slot => (acl[slot]?.length ?? 0) > 0)

const ofContext = principalUri(OF_CONTEXT)

/**
 * True if the rights that the context gives apply besides an ACL of its own. All five slots must say so: a client that does not know the
 * name and replaces a slot closes the entry, and never opens it.
 */
export const addsToContext = (acl: Acl): boolean => aclSlots.every(slot => acl[slot]?.includes(ofContext))

const ofFolder = principalUri(OF_FOLDER)

/** The same for the folder above, which may add to its own folder or to the context. Without a folder it is the context. */
export const addsToFolder = (acl: Acl): boolean => aclSlots.every(slot => acl[slot]?.includes(ofFolder))

/** Whether the ACL of an entry adds to the access from above: from the folder, or from the context alone. */
export const adds = (acl: Acl): boolean => addsToContext(acl) || addsToFolder(acl)

/** Whether only those whom the ACL names have access: nothing comes from above. */
export const decidesAlone = (acl: Acl): boolean => isOwnAcl(acl) && !adds(acl)

/** Whether an entry with this ACL has the access that its folder gives. */
export const followsFolder = (acl: Acl): boolean => !isOwnAcl(acl) || (addsToFolder(acl) && !addsToContext(acl))

/**
 * Whether the ACL of a list is for everything in the list too: one slot that names the folder is enough. So a client that does not know this
 * name and replaces one slot restricts the content of the folder together with the folder.
 */
export const givesAccess = (list: Pick<EntryHead, 'context' | 'entryType' | 'graphType' | 'acl'>): boolean =>
  isList(list) &&
  list.context !== CONTEXTS &&
  list.context !== PRINCIPALS &&
  aclSlots.some(slot => list.acl[slot]?.includes(ofFolder))

/** Whether a member of an access list is a user or group, and not a stand-in for the access from above. */
export const isPrincipal = (iri: string): boolean => iri !== ofContext && iri !== ofFolder

/** An ACL that adds nothing to the access from the context, and excludes access from the folder above. */
export const ofContextOnly: Acl = Object.fromEntries(aclSlots.map(slot => [slot, [ofContext]]))

/** An ACL that adds nothing to the access from the folder. */
export const ofFolderOnly: Acl = Object.fromEntries(aclSlots.map(slot => [slot, [ofFolder]]))

/** The ACL of a list, for everything in it as well. */
export const givingAccess = (acl: Acl): Acl => ({ ...acl, rread: [...(acl.rread ?? []), ofFolder] })

/**
 * A list keeps giving access to its content even if a client that does not know of this sends another access list: otherwise the context
 * would gain access to the content.
 */
export function keepingGift<T extends EntryHead>(before: EntryHead, after: T): T {
  const { folders } = before
  const gives = givesAccess(before) || folders.length > 0
  const isLost = gives && isList(after) && isOwnAcl(after.acl) && !givesAccess(after)
  return { ...after, folders, acl: isLost ? givingAccess(after.acl) : after.acl }
}

const fingerprint = (acl: Acl): string => JSON.stringify(aclSlots.map(slot => [...(acl[slot] ?? [])].sort()))

/** Whether two access lists name the same principals in the same slots. */
export const isSameAcl = (one: Acl, other: Acl): boolean => one === other || fingerprint(one) === fingerprint(other)

/** The ACL with other principals in its slots. */
export const mapAcl = (acl: Acl, map: (principals: readonly string[]) => readonly string[]): Acl =>
  Object.fromEntries(
    aclSlots.map(slot => [slot, map(acl[slot] ?? [])] as const).filter(([, principals]) => principals.length > 0),
  )

/** The same ACL, applied instead of the rights that come from above. */
export const decidingAlone = (acl: Acl): Acl => mapAcl(acl, list => list.filter(isPrincipal))

export const everybody: readonly string[] = [principalUri(GUEST)]
const signedInUsers: readonly string[] = [principalUri(USERS)]

/** The ACL of a new user: they may manage themselves, and other users may see them (W3.2.1). */
export const userAcl = (id: string): Acl => ({
  rwrite: [principalUri(id)],
  mwrite: [principalUri(id)],
  mread: signedInUsers,
})

/** The ACL of a new group: its members and all signed-in users may see it. */
export const groupAcl = (id: string): Acl => ({ rread: [principalUri(id)], mread: signedInUsers })
