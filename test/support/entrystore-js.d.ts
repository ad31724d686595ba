/** What the tests use of the client library, which comes without types. Where `direct` is true there is no waiting. */
declare module '@entryscape/entrystore-js' {
  /** Answers of the service as the client's HTTP library tells them. */
  interface Response {
    readonly status: number
    readonly header: Readonly<Record<string, string>>
  }

  interface Statement {
    getValue(): string
  }

  interface Graph {
    add(subject: string, predicate: string, object: string): Statement
    addL(subject: string | undefined, predicate: string, text: string, language?: string): Statement
    addD(subject: string, predicate: string, text: string, datatype: string): Statement
    find(subject: string | null, predicate: string | null, object?: string | null): Statement[]
    findAndRemove(subject: string | null, predicate: string | null): void
    findFirstValue(subject: string | null, predicate: string): string | undefined
    exportRDFJSON(): Record<string, Record<string, Array<{ type: string; value: string }>>>
    isEmpty(): boolean
  }

  interface Acl {
    readonly admin?: readonly string[]
    readonly rread?: readonly string[]
    readonly rwrite?: readonly string[]
    readonly mread?: readonly string[]
    readonly mwrite?: readonly string[]
  }

  interface EntryInfo {
    getGraph(): Graph
    getName(): string | undefined
    isDisabled(): boolean | undefined
    getGraphType(): string
    getResourceType(): string
    getMetadataURI(): string
    getExternalMetadataURI(): string
    setExternalMetadataURI(uri: string): void
    setResourceURI(uri: string): void
    getACL(asIds?: boolean): Required<Acl> & { readonly contextOverride: boolean }
    setACL(acl: Acl): void
    hasACL(): boolean
    getLabel(): string | undefined
    setLabel(label: string): void
    getFormat(): string | undefined
    setFormat(format: string): void
    getStatus(): string | undefined
    setStatus(status: string): void
    getSize(): number | undefined
    getCreationDate(): Date
    getModificationDate(): Date
    getCreator(): string
    getContributors(): string[]
    commit(ignoreIfUnmodifiedSinceCheck?: boolean): Promise<EntryInfo>
  }

  /** All kinds of resource in one: which members there are depends on the graph type of the entry. */
  interface Resource {
    getEntry(): Promise<Entry>
    getId(): string
    getResourceURI(): string
    // A context
    newEntry(id?: string): PrototypeEntry
    newNamedEntry(id?: string): PrototypeEntry
    newLink(link: string, id?: string): PrototypeEntry
    newLinkRef(link: string, metadata: string, id?: string): PrototypeEntry
    newRef(link: string, metadata: string, id?: string): PrototypeEntry
    newList(id?: string): PrototypeEntry
    newGraph(graph?: unknown, id?: string): PrototypeEntry
    newString(text: string, id?: string): PrototypeEntry
    newPipeline(id?: string): PrototypeEntry
    getEntryById(id: string): Promise<Entry>
    getHomeContextOf(): Promise<Entry>
    // A context, a user, a group
    getName(): string | undefined
    setName(name: string): Promise<unknown>
    getHomeContext(): string | undefined
    setHomeContext(context: string): Promise<unknown>
    // A user
    setPassword(password: string, current?: string): Promise<Response>
    getLanguage(): string | undefined
    setLanguage(language: string): Promise<Response>
    isDisabled(): boolean
    setDisabled(disabled: boolean): Promise<Response | true>
    getCustomProperties(): Record<string, string>
    setCustomProperties(properties: Record<string, string>): Promise<Response>
    // A list, a group
    getEntries(page?: number): Promise<Entry[]>
    getAllEntries(): Promise<Entry[]>
    getAllEntryIds(): Promise<string[]>
    setAllEntryIds(ids: readonly string[]): Promise<Entry>
    addEntry(entry: Entry): Promise<Entry>
    removeEntry(entry: Entry): Promise<Entry>
    forEach(work: (entry: Entry, index: number) => unknown): Promise<number | boolean>
    getSize(): number
    setLimit(limit: number): Resource
    needRefresh(): void
    // A string
    getString(): string
    setString(text: string): Resource
    commit(ignoreIfUnmodifiedSinceCheck?: boolean): Promise<unknown>
    // A graph, a pipeline
    getGraph(): Graph
    setDestination(entry: Entry): void
    getDestination(): string | undefined
    addTransform(type: string, args: Record<string, string>): string
    getTransforms(): string[]
    getTransformType(transform: string): string
    getTransformArguments(transform: string): Record<string, string>
    setTransformArguments(transform: string, args: Record<string, string>): void
    /** Resolves to entry URIs. */
    execute(source: Entry | null, params?: object): Promise<string[]>
    setPipelineArguments(args: Record<string, string>, type?: string): void
    getPipelineArguments(type?: string): Record<string, string>
    // A file
    putFile(data: NodeJS.ReadableStream, format: string): Promise<Response>
    putText(text: string): Promise<Response>
    putJSON(value: unknown): Promise<Response>
    put(data: string | Uint8Array, format: string): Promise<Response>
    get(to?: NodeJS.WritableStream): Promise<unknown>
    getText(): Promise<string>
    getJSON(): Promise<unknown>
    getXML(): Promise<string>
  }

  export interface Entry {
    getId(): string
    getURI(): string
    getResourceURI(): string
    getEntryInfo(): EntryInfo
    getMetadata(): Graph
    getCachedExternalMetadata(): Graph
    getAllMetadata(): Graph
    add(predicate: string, object: string): this
    addL(predicate: string, text: string, language?: string): this
    addD(predicate: string, text: string, datatype: string): this
    commitMetadata(ignoreIfUnmodifiedSinceCheck?: boolean): Promise<Entry>
    commitCachedExternalMetadata(ignoreIfUnmodifiedSinceCheck?: boolean): Promise<Entry>
    getResource(direct: true): Resource
    getResource(direct?: false): Promise<Resource>
    getReferrers(property: string): string[]
    getParentLists(): string[]
    getParentGroups(): string[]
    getLinkedEntry(): Promise<Entry> | undefined
    isContext(): boolean
    isUser(): boolean
    isGroup(): boolean
    isLink(): boolean
    isLinkReference(): boolean
    isReference(): boolean
    isNamedResource(): boolean
    isGraph(): boolean
    isPipeline(): boolean
    isPipelineResult(): boolean
    isLocal(): boolean
    isPublic(): boolean | undefined
    canAdministerEntry(): boolean
    canReadResource(): boolean
    canWriteResource(): boolean
    canReadMetadata(): boolean
    canWriteMetadata(): boolean
    refresh(silently?: boolean, force?: boolean): Promise<Entry>
    del(recursive?: boolean): Promise<void>
  }

  export interface PrototypeEntry extends Entry {
    setACL(acl: Acl): this
    setParentList(list: Entry): this
    setResourceURI(uri: string): this
    commit(): Promise<Entry>
  }

  interface PrototypeContextEntry extends PrototypeEntry {
    getPrototypeContext(): Resource
    getInitialEntries(): Entry[]
    createGroupAndContext(): Promise<{ contextEntry: Entry; groupEntry: Entry; initialEntries: Entry[] }>
  }

  interface Facet {
    readonly name: string
    readonly valueCount: number
    readonly predicate?: string
    readonly type?: string
    readonly values: ReadonlyArray<{ readonly name: string; readonly count: number }>
  }

  export interface SearchList {
    getEntries(page?: number): Promise<Entry[]>
    getAllEntries(): Promise<Entry[]>
    getSize(): number
    getFacets(): Facet[]
    forEach(work: (entry: Entry, index: number) => unknown): Promise<number | boolean>
  }

  type Sought = string | readonly string[]
  type Modifier = boolean | 'not' | 'and' | 'or'

  export interface SolrQuery {
    title(text: Sought, modifier?: Modifier): this
    tagLiteral(text: Sought): this
    all(text: Sought): this
    resource(uri: Sought): this
    uri(uri: Sought): this
    context(context: Resource | string): this
    graphType(type: Sought, modifier?: Modifier): this
    rdfType(type: Sought): this
    publicRead(isPublic?: boolean): this
    createdRange(from: Date | undefined, to: Date | undefined): this
    literalProperty(predicate: string, text: Sought, modifier?: Modifier, type?: 'ngram' | 'text' | 'string'): this
    uriProperty(predicate: string, uri: Sought, modifier?: Modifier): this
    integerProperty(predicate: string, value: string): this
    integerPropertyRange(predicate: string, from: string, to: string): this
    datePropertyRange(predicate: string, from: Date | undefined, to: Date | undefined): this
    or(structure: object): this
    and(structure: object): this
    disjunctiveProperties(): this
    literalFacet(predicate: string): this
    uriFacet(predicate: string): this
    sort(sort: string): this
    limit(limit: number): this
    list(): SearchList
    getEntries(page?: number): Promise<Entry[]>
    getEntry(): Promise<Entry | undefined>
    size(): Promise<number>
  }

  interface UserInfo {
    readonly user: string
    readonly id: string
    readonly language?: string
    readonly homecontext?: string
    readonly uri?: string
  }

  export class EntryStore {
    constructor(baseURI: string)
    auth(credentials: { user: string; password: string; maxAge?: number }): Promise<UserInfo>
    getAuth(): {
      getUserInfo(force?: boolean): Promise<UserInfo>
      addAuthListener(listener: (topic: string, info: UserInfo) => void): void
    }
    logout(): Promise<UserInfo>
    getUserInfo(): Promise<UserInfo>
    getUserEntry(): Promise<Entry>
    getEntry(uri: string, options?: { forceLoad?: boolean; limit?: number; offset?: number }): Promise<Entry>
    getEntryURI(context: string, entry: string): string
    getResourceURI(context: string, entry: string): string
    getContextById(id: string): Resource
    getContextList(): SearchList
    getPrincipalList(): SearchList
    newContext(name?: string, id?: string): PrototypeContextEntry
    newUser(name?: string, password?: string, homeContext?: string, id?: string): PrototypeEntry
    newGroup(name?: string, id?: string): PrototypeEntry
    createGroupAndContext(name?: string, contextId?: string): Promise<Entry>
    moveEntry(entry: Entry, from: Entry, to: Entry): Promise<Response>
    getStatus(): Promise<Record<string, unknown>>
    newSolrQuery(): SolrQuery
    createSearchList(query: SolrQuery): SearchList
    getCache(): { clear(): void }
    loadViaProxy(uri: string): Promise<unknown>
    getREST(): {
      /** Sent with every request. */
      readonly headers: Record<string, string>
      get(uri: string, format?: string): Promise<unknown>
      put(uri: string, data: string, modDate?: Date, format?: string): Promise<Response>
      post(uri: string, data?: string, modDate?: Date, format?: string): Promise<Response>
      del(uri: string, modDate?: Date): Promise<Response>
    }
  }

  export class EntryStoreUtil {
    constructor(store: EntryStore)
    getEntryByResourceURI(uri: string, context?: Resource): Promise<Entry>
    getEntryByResourceURIDebounce(uri: string, context?: Resource): Promise<Entry>
    getEntryByType(type: string, context?: Resource): Promise<Entry>
    getEntryByGraphType(type: string, context?: Resource): Promise<Entry>
    loadEntriesByResourceURIs(uris: readonly string[], context?: Resource, acceptMissing?: boolean): Promise<Entry[]>
    removeAll(list: SearchList): Promise<string[]>
  }

  export const types: Readonly<Record<string, string>>
  export const terms: { readonly homeContext: string; readonly status: Readonly<Record<string, string>> }
}
