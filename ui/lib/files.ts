import { ask, askTagged, type Tagged } from './api.ts'
import { address, part } from './base.ts'
import { titleIn, titles } from './contexts.ts'
import {
  aboutThing,
  type Graph,
  languageShown,
  resourceIn,
  shownStatement,
  valuesOf,
  withOwnText,
  withText,
} from './graph.ts'

/** What an item is: a link has its resource at another address, a text is kept with its entry. */
export type ItemKind = 'folder' | 'file' | 'link' | 'text'

/** A file, folder, link or text, as a list shows it. */
export interface Item {
  readonly entryId: string
  readonly context: string
  readonly kind: ItemKind
  readonly isFolder: boolean
  /** The address that a link leads to. */
  readonly target: string | undefined
  readonly name: string
  /** Bytes; `undefined` while the entry has no file. */
  readonly size: number | undefined
  readonly mediaType: string | undefined
  readonly modified: Date | undefined
  readonly isOwner: boolean
  readonly canWrite: boolean
  readonly canWriteMetadata: boolean
  readonly info: Graph
  readonly metadata: Graph | undefined
  /** Id of the folder that it is in; `undefined` for none, or if the response does not say. */
  readonly folder: string | undefined
}

interface Hit {
  readonly entryId: string
  readonly contextId: string
  readonly info: Graph
  readonly metadata?: Graph
  readonly cachedExternalMetadata?: Graph
  readonly rights?: readonly string[]
  readonly relations?: Graph
  /** The name of a context. */
  readonly alias?: string
}

interface Found {
  readonly resource: { readonly children: readonly Hit[] }
  readonly results: number
}

const DCT = 'http://purl.org/dc/terms/'
const STORE = 'http://entrystore.org/terms/'
export const LABEL = 'http://www.w3.org/2000/01/rdf-schema#label'
export const TITLE = `${DCT}title`

/** Maximum length of a name. */
export const MAX_NAME = 255

/** Number of items fetched with one request. */
export const WINDOW = 100

export const columns = ['name', 'size', 'format', 'modified'] as const
export type SortColumn = (typeof columns)[number]

/** A list of files to show. */
export interface Listing {
  /** The URI of the context, in the form that the service uses in its responses. */
  readonly contextUri: string
  /** Id of the folder; `undefined` for items that are in no folder. */
  readonly folder: string | undefined
  /** Words to search for. If there are any, all folders are searched. */
  readonly search: string
  /** Whether the search is for all contexts that the person can read. */
  readonly isEverywhere: boolean
  readonly sort: SortColumn
  readonly descends: boolean
}

export interface Window {
  readonly items: readonly Item[]
  readonly results: number
}

/** Escapes the characters that have a meaning in queries. */
export const escape = (text: string): string => text.replaceAll(/[^\p{L}\p{N}_-]/gu, sign => `\\${sign}`)

/** Files and links, folders, and texts. */
export const LISTED = '(graphType:None OR graphType:List OR graphType:String)'

/** Where words are searched for. */
const SEARCHED = ['name', 'title', 'description', 'tag.literal'] as const
/** A search has a limit on its parts. */
const MAX_WORDS = 7

/** Whether items of several contexts are listed. */
export const isAcrossContexts = ({ search, isEverywhere }: Listing): boolean => isEverywhere && search.trim() !== ''

/** The query that finds what is listed. */
export function queryOf(listing: Listing): string {
  const words = listing.search.split(/\s+/).filter(word => word !== '')
  if (words.length === 0) return queryOfFolder(listing)
  const place = listing.isEverywhere ? `${LISTED} AND ${isThere}` : queryOfContext(listing)
  const found = words
    .slice(0, MAX_WORDS)
    .map(word => `(${SEARCHED.map(field => `${field}:*${escape(word)}*`).join(' OR ')})`)
  return [place, ...found].join(' AND ')
}

/**
 * The format of an entry that has been created for a file, until the file has arrived: its own format takes the place of this one. Lists of
 * files leave such entries out.
 */
export const AWAITED = 'application/x-awaited'
const isThere = `NOT format:${escape(AWAITED)}`

const queryOfContext = ({ contextUri }: Pick<Listing, 'contextUri'>): string =>
  `context:${escape(contextUri)} AND ${LISTED} AND ${isThere}`

function queryOfFolder({ contextUri, folder }: Pick<Listing, 'contextUri' | 'folder'>): string {
  const query = queryOfContext({ contextUri })
  if (folder === undefined) return `${query} AND NOT lists:*`
  return `${query} AND lists:${escape(`${contextUri}/resource/${folder}`)}`
}

/** A part of a list of files and folders, folders first. @throws {Problem} */
export async function loadItems(listing: Listing, offset: number, signal: AbortSignal): Promise<Window> {
  const direction = listing.descends ? 'desc' : 'asc'
  const order = listing.sort === 'name' ? '' : ',name asc'
  return await search(queryOf(listing), `isFolder asc,${listing.sort} ${direction}${order}`, offset, signal)
}

/** Where a reader of feeds finds what the search finds, the latest change first. */
export function searchFeed(listing: Listing): string {
  const parameters = new URLSearchParams({ type: 'solr', query: queryOf(listing), sort: 'modified desc' })
  return address(`search?${parameters.toString()}&syndication=atom_1.0`)
}

/** @throws {Problem} */
export async function search(query: string, sort: string, offset: number, signal: AbortSignal): Promise<Window> {
  const parameters = new URLSearchParams({ type: 'solr', query, sort, limit: String(WINDOW), offset: String(offset) })
  const found = await ask<Found>(`search?${parameters.toString()}`, { signal })
  return { items: found.resource.children.map(itemOf), results: found.results }
}

/** All folders that are directly in a folder, or in none, by name. @throws {Problem} */
export async function loadFolders(
  place: Pick<Listing, 'contextUri' | 'folder'>,
  signal: AbortSignal,
): Promise<readonly Item[]> {
  const query = `${queryOfFolder(place)} AND graphType:List`
  const folders: Item[] = []
  for (let results = 1; folders.length < results; ) {
    const window = await search(query, 'name asc', folders.length, signal)
    folders.push(...window.items)
    results = window.items.length === 0 ? 0 : window.results
  }
  return folders
}

/** Number of names looked up with one request. */
const NAMES = 10

/** The items in a folder that already have one of these names, by name. @throws {Problem} */
export async function findNamed(
  folder: Pick<Listing, 'contextUri' | 'folder'>,
  names: readonly string[],
): Promise<ReadonlyMap<string, Item>> {
  const found = new Map<string, Item>()
  const { signal } = new AbortController()
  const place = queryOfFolder(folder)
  for (let first = 0; first < names.length; first += NAMES) {
    const some = names.slice(first, first + NAMES)
    const query = `${place} AND (${some.map(name => `name:${escape(name)}`).join(' OR ')})`
    const { items } = await search(query, 'name asc', 0, signal)
    for (const item of items) if (some.includes(item.name)) found.set(item.name, item)
  }
  return found
}

const kindsByType: Readonly<Record<string, ItemKind>> = {
  List: 'folder',
  String: 'text',
  Link: 'link',
  LinkReference: 'link',
  Reference: 'link',
}

function kindIn(info: Graph): ItemKind {
  const types = valuesOf(info, 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type')
  const ofStore = types.filter(type => type.startsWith(STORE)).map(type => type.slice(STORE.length))
  return ofStore.map(type => kindsByType[type]).find(kind => kind !== undefined) ?? 'file'
}

function itemOf(hit: Hit): Item {
  const { entryId, contextId, info, metadata, cachedExternalMetadata, alias, relations, rights = [] } = hit
  const [size] = valuesOf(info, `${DCT}extent`)
  const [modified] = valuesOf(info, `${DCT}modified`)
  const isOwner = rights.includes('administer')
  const resource = resourceIn(info)
  const kind = kindIn(info)
  const target = kind === 'link' ? resource : undefined
  const title = titleIn(resource, metadata) ?? titleIn(resource, cachedExternalMetadata)
  return {
    entryId,
    context: contextId,
    kind,
    isFolder: kind === 'folder',
    target,
    name: valuesOf(info, LABEL)[0] ?? title ?? alias ?? target ?? entryId,
    size: size === undefined ? undefined : Number(size),
    mediaType: valuesOf(info, `${DCT}format`)[0],
    modified: modified === undefined ? undefined : new Date(modified),
    isOwner,
    canWrite: isOwner || rights.includes('writeresource'),
    canWriteMetadata: isOwner || rights.includes('writemetadata'),
    info,
    metadata,
    folder: folderIn(relations),
  }
}

/** @throws {Problem} */
export async function loadItem(context: string, id: string, signal?: AbortSignal): Promise<Item> {
  const path = `${part(context)}/entry/${part(id)}?includeAll&limit=1`
  const entry = await ask<Omit<Hit, 'contextId'>>(path, signal ? { signal } : {})
  return itemOf({ ...entry, contextId: context })
}

/** Where a link leads, if it is a page that a browser may open. */
export const webAddress = ({ target = '' }: Pick<Item, 'target'>): string | undefined =>
  /^https?:\/\//i.test(target) ? target : undefined

/** The page that shows an item, over the list of its context. */
export const itemPath = ({ context, entryId }: Pick<Item, 'context' | 'entryId'>, tab?: string): string =>
  `contexts/${part(context)}/files?item=${part(entryId)}${tab === undefined ? '' : `&tab=${tab}`}`

/** The page of the folder that holds an item, or of its context. */
export const folderPath = ({ context, folder }: Pick<Item, 'context' | 'folder'>): string =>
  `contexts/${part(context)}/files${folder === undefined ? '' : `/${part(folder)}`}`

export const entryPath = ({ context, entryId }: Item): string => `${part(context)}/entry/${part(entryId)}`
export const resourcePath = ({ context, entryId }: Pick<Item, 'context' | 'entryId'>): string =>
  `${part(context)}/resource/${part(entryId)}`

/** The subject of statements about the item, in the form that the service uses. */
export const subjectOf = ({ info, entryId, context }: Item): string =>
  resourceIn(info) ?? `${context}/resource/${entryId}`

/** The statements about the item itself: metadata may describe other things too. */
export const aboutItem = (item: Item, graph: Graph): Graph => aboutThing(subjectOf(item), graph)

/** Whether the name of an item is the label in its info, as the name of a file is. Otherwise it is the title in the metadata. */
export const isNamedByLabel = ({ kind, info }: Pick<Item, 'kind' | 'info'>): boolean =>
  kind === 'file' || valuesOf(info, LABEL).length > 0

const namePredicates = (item: Item): readonly string[] => (isNamedByLabel(item) ? [LABEL] : titles)
export const metadataPath = ({ context, entryId }: Item): string => `${part(context)}/metadata/${part(entryId)}`

/** The graph that states the name of an item. @throws {Problem} */
export async function loadNaming(item: Item): Promise<Tagged<Graph>> {
  if (!isNamedByLabel(item)) return await askTagged<Graph>(metadataPath(item))
  const { value, ...tagged } = await askTagged<{ readonly info: Graph }>(entryPath(item))
  return { ...tagged, value: value.info }
}

/** Says in which language the name in this graph is, if that is not the language of the page. */
export const nameLanguage = (item: Item, graph: Graph): string | undefined =>
  languageShown(aboutItem(item, graph), namePredicates(item))

/** The name that this graph states; as long as it states none, the one that is shown. */
export const nameIn = (item: Item, graph: Graph): string =>
  shownStatement(aboutItem(item, graph), namePredicates(item))?.value ?? item.name

/** @param graph what {@link loadNaming} has loaded @throws {Problem} status 412 if it has changed since */
export async function saveName(item: Item, graph: Graph, name: string, tag: string | undefined): Promise<void> {
  const path = isNamedByLabel(item) ? entryPath(item) : metadataPath(item)
  const json = { ...graph, ...withText(aboutItem(item, graph), subjectOf(item), namePredicates(item), name) }
  await ask(path, { method: 'PUT', json, ifMatch: tag })
}

/** @throws {Problem} */
export async function rename(item: Item, name: string): Promise<void> {
  const { value, tag } = await loadNaming(item)
  await saveName(item, value, name, tag)
}

/** @throws {Problem} */
export const loadMetadata = (item: Item): Promise<Tagged<Graph>> => askTagged<Graph>(metadataPath(item))

/** Sends metadata in which something is changed. @throws {Problem} status 412 if they have changed since */
export const saveMetadata = (item: Item, json: Graph, tag: string | undefined): Promise<undefined> =>
  ask(metadataPath(item), { method: 'PUT', json, ifMatch: tag })

/** Changes only one value of each of these predicates in the metadata. @throws {Problem} status 412 if it has changed since */
export async function saveTexts(
  item: Item,
  metadata: Graph,
  changed: ReadonlyArray<readonly [predicate: string, text: string]>,
  tag: string | undefined,
): Promise<void> {
  const subject = subjectOf(item)
  const own = changed.reduce(
    (graph, [predicate, text]) => withOwnText(graph, subject, predicate, text),
    aboutItem(item, metadata),
  )
  await saveMetadata(item, { ...metadata, ...own }, tag)
}

/** Where a new entry goes. */
export interface Place {
  readonly context: string
  readonly contextUri: string
  readonly folder: string | undefined
}

/** The query parameter that puts a new entry into a folder. */
export const inFolder = ({ contextUri, folder }: Place): Record<string, string> =>
  folder === undefined ? {} : { list: `${contextUri}/resource/${folder}` }

/** Creates a folder and returns its id. @throws {Problem} */
export async function createFolder(place: Place, name: string): Promise<string> {
  const query = new URLSearchParams({ graphtype: 'list', ...inFolder(place) })
  const metadata = { [`${place.contextUri}/resource/_newId`]: { [TITLE]: [{ type: 'literal', value: name }] } }
  const path = `${part(place.context)}?${query.toString()}`
  return (await ask<{ readonly entryId: string }>(path, { method: 'POST', json: { metadata } })).entryId
}

/** Creates an entry whose file follows, and returns its id. @throws {Problem} */
export async function createForFile(place: Place, name: string): Promise<string> {
  const statements = {
    [LABEL]: [{ type: 'literal', value: name }],
    [`${DCT}format`]: [{ type: 'literal', value: AWAITED }],
  }
  const info = { [`${place.contextUri}/resource/_newId`]: statements }
  const path = `${part(place.context)}?${new URLSearchParams(inFolder(place)).toString()}`
  return (await ask<{ readonly entryId: string }>(path, { method: 'POST', json: { info } })).entryId
}

/** Deletes an entry permanently. @throws {Problem} */
export const deleteEntry = (context: string, entry: string): Promise<undefined> =>
  ask(`${part(context)}/entry/${part(entry)}`, { method: 'DELETE' })

const HAS_MEMBER = 'http://entrystore.org/terms/hasListMember'

/** Id of the folder that an item is in; `undefined` for none. @throws {Problem} */
export async function folderOf(
  { context, entryId }: Pick<Item, 'context' | 'entryId'>,
  signal?: AbortSignal,
): Promise<string | undefined> {
  return folderIn(await ask<Graph>(`${part(context)}/relations/${part(entryId)}`, signal ? { signal } : {}))
}

const folderIn = (relations: Graph = {}): string | undefined =>
  Object.entries(relations)
    .find(([, properties]) => properties[HAS_MEMBER])?.[0]
    .split('/')
    .at(-1)

/** Moves an item into a folder of its context. @throws {Problem} */
export async function moveInto(
  item: Pick<Item, 'entryId'>,
  context: string,
  contextUri: string,
  folder: string,
): Promise<void> {
  const query = new URLSearchParams({ moveEntry: `${contextUri}/entry/${item.entryId}`, removeAll: '' })
  await ask(`${resourcePath({ context, entryId: folder })}?${query.toString()}`, { method: 'POST' })
}

/** Takes items out of a folder, into none. @throws {Problem} status 412 if the folder has changed meanwhile */
export async function takeOut(
  items: ReadonlyArray<Pick<Item, 'entryId'>>,
  context: string,
  folder: string,
): Promise<void> {
  const path = resourcePath({ context, entryId: folder })
  const { value, tag } = await askTagged<readonly string[]>(path)
  const ids = new Set(items.map(({ entryId }) => entryId))
  await ask(path, { method: 'PUT', json: value.filter(id => !ids.has(id)), ifMatch: tag })
}
