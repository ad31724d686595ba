import type { Caller } from '../accounts/caller.ts'
import type { User } from '../accounts/users.ts'
import { Forbidden } from '../base/errors.ts'
import type { FileRecord } from '../files/file-records.ts'
import type { Incoming } from '../files/staging.ts'
import type { Usage } from '../files/quota-usage.ts'
import type { Graph, GraphText } from '../graph/graph.ts'
import type { Acl, Entry, EntryHead, EntryType, GraphType } from '../model/entry.ts'
import { type EntryAddress, isSystemEntry } from '../model/addresses.ts'
import type { ResponseBudget } from '../model/response-budget.ts'
import type { AccessCheck, EntryInContext, Right } from '../model/rights.ts'
import type { Queries } from '../stores/database.ts'
import type { EntryWriter, Precondition } from './changes.ts'
import type { Place } from './creation-place.ts'
import type { ListPage, Order, Paging } from '../model/list-order.ts'
import type { Read } from './values.ts'

/**
 * Everything that the service does in its own way for one kind of resource. Each kind has a file in `content/kinds/` and a line in
 * `kinds.ts` there; the services of this module ask the kind of an entry instead of testing its graph type.
 */
export interface ResourceKind extends ResourceReads {
  /** False when clients cannot create entries of this kind. */
  readonly isCreatable: boolean
  /** The one context that has entries of this kind. Absent: all contexts but `_contexts` may have them. */
  readonly home?: string
  /** The access list of a new entry when the client sends none. */
  readonly initialAcl?: (id: string) => Acl
  /** Does what must not happen inside a transaction because it takes long; returns the hash of a password. */
  readonly prepare?: (body: CreationBody, caller: Caller) => Promise<string | undefined>
  /** Creates the resource of a new local entry; resolves to the entry with the part that is stored in its row. */
  readonly create?: (writer: EntryWriter, making: CreateResourceInput) => Promise<Entry>
  /** Completes the resource once the row of the entry exists. */
  readonly complete?: (writer: EntryWriter, entry: Entry, body: CreationBody) => Promise<void>
  /** How such entries are named; absent when they have no name. */
  readonly naming?: Naming
  /** Replaces the resource. Checks the right itself. @throws {WrongMethod} for kinds that clients cannot write */
  readonly write: (
    caller: Caller,
    target: EntryInContext,
    body: ResourceBody,
    conditions: ResourceConditions,
  ) => Promise<Written>
  /** Deletes or empties the resource; the entry stays. Checks the right itself. Absent when clients cannot do that. */
  readonly clear?: (caller: Caller, target: EntryInContext, conditions: ResourceConditions) => Promise<Entry>
  /** Deletes the resource with its entry. Part of a change whose right has been checked. Absent: the row of the entry is all. */
  readonly remove?: (writer: EntryWriter, entry: EntryAddress) => Promise<void>
  /** Follows the commit that deleted the entry. */
  readonly removed?: (entry: EntryAddress) => Promise<void>
}

/** How one kind of resource is read. */
export interface ResourceReads {
  /** The resource inside the JSON of the entry (W2.6). The caller may read it. */
  readonly view: (caller: Caller, target: EntryInContext, how: ViewContext) => Promise<ResourceView | undefined>
  /** The resource on its own. The caller may read it. */
  readonly content: (caller: Caller, target: EntryInContext, presenter: MemberViewer) => Promise<ResourceContent>
}

/** How each kind of resource is read. */
export interface KindReads {
  of(entry: Pick<EntryHead, 'entryType' | 'graphType'>): ResourceReads
}

/** The kind of each graph type. */
export interface Kinds extends KindReads {
  readonly ofType: Readonly<Record<GraphType, ResourceKind>>
  /** The kind of an entry. A resource that is stored elsewhere is handled like a file that cannot be uploaded. */
  of(entry: Pick<EntryHead, 'entryType' | 'graphType'>): ResourceKind
}

/** The input for the resource of a new entry. */
export interface CreateResourceInput {
  readonly maker: Caller
  readonly entry: Entry
  readonly place: Place
  readonly request: CreationRequest
  readonly body: CreationBody
  /** The result of {@link ResourceKind.prepare}. */
  readonly hash: string | undefined
}

/** The name of a user, group or context, which is stored outside the entry. */
export interface Naming {
  /** All callers may look up names of contexts; other names require the right to read the metadata (W4.4). */
  readonly isPublic: boolean
  /** Whether the caller may change it. */
  readonly check: AccessCheck
  find(queries: Queries, id: string): Promise<string | undefined>
  /** An empty name removes it. Part of a change whose right has been checked. */
  set(writer: EntryWriter, id: string, name: string): Promise<void>
}

/** Sets the name of an entry. Part of a change whose right has been checked. @throws {Forbidden} for system entries */
export async function setName(naming: Naming, writer: EntryWriter, entry: Entry, name: string): Promise<void> {
  if (isSystemEntry(entry)) throw new Forbidden('not-allowed', 'The names of system entries cannot be changed.')
  await naming.set(writer, entry.id, name)
}

/** A graph with relative IRIs, or its stored text: what is only sent need not be parsed. */
export type ShownGraph = Graph | GraphText

/** An entry as one caller may see it (W2.2). */
export interface EntryView {
  readonly contextId: string
  readonly entryId: string
  readonly name?: string | undefined
  readonly quota?: Usage | undefined
  readonly disabled?: boolean | undefined
  readonly info: ShownGraph
  readonly metadata?: ShownGraph | undefined
  readonly cachedExternalMetadata?: ShownGraph | undefined
  readonly relations?: ShownGraph | undefined
  readonly rights?: readonly Right[] | undefined
  readonly resource?: ResourceView | undefined
  /** The number of members, for a member that is itself a list. */
  readonly size?: number | undefined
  /** True if graphs are left out because they are too large for this response; the entry itself has them. */
  readonly truncated?: true | undefined
}

/** The resource of a Local entry inside the entry's JSON (W2.6). */
export type ResourceView =
  | { readonly form: 'value'; readonly value: unknown }
  | { readonly form: 'graph'; readonly graph: Graph }
  | { readonly form: 'list'; readonly page: ListPage<EntryView> }
  | { readonly form: 'group'; readonly name: string | undefined; readonly members: readonly EntryView[] }

/** Presents the members of a list or group, without what the caller may not read of them. */
export interface MemberViewer {
  member(caller: Caller, target: EntryInContext, budget: ResponseBudget): Promise<EntryView>
  groupMember(caller: Caller, target: EntryInContext, user: User, budget: ResponseBudget): Promise<EntryView>
}

export interface ViewContext {
  readonly presenter: MemberViewer
  /** The digest of the file of the entry, if it has one. */
  readonly sha256: string | undefined
  /** Which members of a list, in which order. */
  readonly paging: Paging
}

/**
 * The resource on its own. `read` is called only when the client does not have the present state already.
 * Where `isVersioned`, the version of the entry identifies the state of the resource.
 */
export type ResourceContent =
  | { readonly form: 'file' }
  | { readonly form: 'text'; readonly isVersioned: true; readonly read: () => string }
  | { readonly form: 'graph'; readonly isVersioned: true; readonly read: () => Graph }
  | {
      readonly form: 'members'
      readonly isVersioned: true
      readonly read: (order: Order) => Promise<readonly string[]>
    }
  | { readonly form: 'json'; readonly isVersioned: boolean; readonly read: () => Promise<unknown> }
  | { readonly form: 'view'; readonly isVersioned: false; readonly read: () => Promise<ResourceView> }
  /** The ids of the entries of a context; also offered as feeds by other servers. */
  | { readonly form: 'ids'; readonly isVersioned: false; readonly read: () => Promise<readonly string[]> }

/** Reads the body of a request in the form that the kind needs, after the right has been checked. */
export interface ResourceBody {
  text(): Promise<string>
  json(): Promise<unknown>
  /** @param entry the graph is its resource */
  graph(entry: Entry): Promise<Graph>
  upload(): Upload
}

export interface Upload extends Incoming {
  /** Available once `bytes` have been read, because a multipart body contains these values between its parts. */
  readonly describe: () => { readonly mediaType: string; readonly fileName: string | undefined }
}

/** Checks the entry and its present file, and throws if the check fails. */
type FilePrecondition = (entry: Entry, file: FileRecord | undefined) => void

/** A file has a version of its own, all other resources that of their entry. */
export interface ResourceConditions {
  readonly entry: Precondition
  readonly file: FilePrecondition
}

/** What has been written. */
export interface Written {
  readonly entry: Entry
  readonly file?: FileRecord
  readonly context?: ContextDescription
}

export interface ContextDescription {
  readonly entry: Entry
  readonly name: string | undefined
  readonly quota: Usage | undefined
}

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
  /** Entry URIs of groups that a new user joins. */
  readonly groupUris: readonly string[]
  /** Resource URI of the list that the entry is added to. */
  readonly listUri: string | undefined
  /** Entry URI of the template whose metadata are copied. */
  readonly templateUri: string | undefined
  /** Fetches the body. The result is a function that reads it with every `_newId` replaced; it is called more than once. */
  readonly body: Read<(newId: string) => CreationBody>
}

/** The placeholder that clients write for the new id (W1.6). */
export const NEW_ID = '_newId'
