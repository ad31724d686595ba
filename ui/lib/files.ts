import { ask, askTagged, type Tagged } from './api.ts'
import { part } from './base.ts'
import { titleIn, titles } from './contexts.ts'
import { ADDRESS, type Graph, shownStatement, valuesOf, withText, withTexts } from './graph.ts'

/** A file or a folder, as a list shows it. */
export interface Item {
  readonly entryId: string
  readonly context: string
  readonly isFolder: boolean
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
const RESOURCE = 'http://entrystore.org/terms/resource'
export const LABEL = 'http://www.w3.org/2000/01/rdf-schema#label'
export const TITLE = `${DCT}title`
export const DESCRIPTION = `${DCT}description`
export const TAG = 'http://www.w3.org/ns/dcat#keyword'

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

const local = 'entryType:Local AND (graphType:None OR graphType:List)'

/** Where words are searched for. */
const SEARCHED = ['name', 'title', 'description', 'tag.literal'] as const
/** A search has a limit on its parts. */
const MAX_WORDS = 7

function queryOf(listing: Listing): string {
  const words = listing.search.split(/\s+/).filter(word => word !== '')
  if (words.length === 0) return queryOfFolder(listing)
  const place = listing.isEverywhere ? local : queryOfContext(listing)
  const found = words
    .slice(0, MAX_WORDS)
    .map(word => `(${SEARCHED.map(field => `${field}:*${escape(word)}*`).join(' OR ')})`)
  return [place, ...found].join(' AND ')
}

const queryOfContext = ({ contextUri }: Pick<Listing, 'contextUri'>): string =>
  `context:${escape(contextUri)} AND ${local}`

function queryOfFolder({ contextUri, folder }: Pick<Listing, 'contextUri' | 'folder'>): string {
  const query = queryOfContext({ contextUri })
  if (folder === undefined) return `${query} AND NOT lists:*`
  return `${query} AND lists:${escape(`${contextUri}/resource/${folder}`)}`
}

/** A part of a list of files and folders, folders first. @throws {Problem} */
export async function loadItems(listing: Listing, offset: number, signal: AbortSignal): Promise<Window> {
  const direction = listing.descends ? 'desc' : 'asc'
  const order = listing.sort === 'name' ? '' : ',name asc'
  return await search(queryOf(listing), `graphType asc,${listing.sort} ${direction}${order}`, offset, signal)
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

function itemOf({ entryId, contextId, info, metadata, alias, relations, rights = [] }: Hit): Item {
  const [size] = valuesOf(info, `${DCT}extent`)
  const [modified] = valuesOf(info, `${DCT}modified`)
  const isOwner = rights.includes('administer')
  const isFolder = valuesOf(info, 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type').some(type =>
    type.endsWith('/List'),
  )
  return {
    entryId,
    context: contextId,
    isFolder,
    name: valuesOf(info, LABEL)[0] ?? titleIn(metadata) ?? alias ?? entryId,
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

/** The page that shows an item, over the list of its context. */
export const itemPath = ({ context, entryId }: Pick<Item, 'context' | 'entryId'>, tab?: string): string =>
  `contexts/${part(context)}/files?item=${part(entryId)}${tab === undefined ? '' : `&tab=${tab}`}`

/** The page of the folder that holds an item, or of its context. */
export const folderPath = ({ context, folder }: Pick<Item, 'context' | 'folder'>): string =>
  `contexts/${part(context)}/files${folder === undefined ? '' : `/${part(folder)}`}`

const entryPath = ({ context, entryId }: Item): string => `${part(context)}/entry/${part(entryId)}`
export const resourcePath = ({ context, entryId }: Pick<Item, 'context' | 'entryId'>): string =>
  `${part(context)}/resource/${part(entryId)}`

/** The subject of statements about the item, in the form that the service uses. */
export const subjectOf = ({ info, entryId, context }: Item): string =>
  valuesOf(info, RESOURCE)[0] ?? `${context}/resource/${entryId}`

/** The statements about the item itself: metadata may describe other things too. All of them, if none is about the item. */
export function aboutItem(item: Item, graph: Graph): Graph {
  const subject = subjectOf(item)
  const own = graph[subject]
  return own === undefined ? graph : { [subject]: own }
}

/** Where the name of an item is stated: the title in the metadata of a folder, the label in the info of a file. */
const NAME_PREDICATES = { folder: titles, file: [LABEL] } as const
export const metadataPath = ({ context, entryId }: Item): string => `${part(context)}/metadata/${part(entryId)}`

/** The graph that states the name of an item. @throws {Problem} */
export async function loadNaming(item: Item): Promise<Tagged<Graph>> {
  if (item.isFolder) return await askTagged<Graph>(metadataPath(item))
  const { value, ...tagged } = await askTagged<{ readonly info: Graph }>(entryPath(item))
  return { ...tagged, value: value.info }
}

/** The name that this graph states; as long as it states none, the one that is shown. */
export const nameIn = (item: Item, graph: Graph): string =>
  shownStatement(aboutItem(item, graph), item.isFolder ? NAME_PREDICATES.folder : NAME_PREDICATES.file)?.value ??
  item.name

/** @param graph what {@link loadNaming} has loaded @throws {Problem} status 412 if it has changed since */
export async function saveName(item: Item, graph: Graph, name: string, tag: string | undefined): Promise<void> {
  const path = item.isFolder ? metadataPath(item) : entryPath(item)
  const predicates = item.isFolder ? NAME_PREDICATES.folder : NAME_PREDICATES.file
  const json = { ...graph, ...withText(aboutItem(item, graph), subjectOf(item), predicates, name) }
  await ask(path, { method: 'PUT', json, ifMatch: tag })
}

/** @throws {Problem} */
export async function rename(item: Item, name: string): Promise<void> {
  const { value, tag } = await loadNaming(item)
  await saveName(item, value, name, tag)
}

/** What can be edited of the metadata of an item; empty where it states nothing. Tags are separated by commas. */
export type Details = Readonly<Record<'title' | 'description' | 'tags', string>>

/** @throws {Problem} */
export const loadMetadata = (item: Item): Promise<Tagged<Graph>> => askTagged<Graph>(metadataPath(item))

export function detailsIn(item: Item, metadata: Graph): Details {
  const own = aboutItem(item, metadata)
  return {
    title: shownStatement(own, titles)?.value ?? '',
    description: shownStatement(own, [DESCRIPTION])?.value ?? '',
    tags: [...new Set(valuesOf(own, TAG))].join(', '),
  }
}

/** Sends metadata in which something is changed. @throws {Problem} status 412 if they have changed since */
export const saveMetadata = (item: Item, json: Graph, tag: string | undefined): Promise<undefined> =>
  ask(metadataPath(item), { method: 'PUT', json, ifMatch: tag })

/** Changes only these details in the metadata. @throws {Problem} status 412 if it has changed since */
export async function saveDetails(
  item: Item,
  metadata: Graph,
  { title, description, tags }: Partial<Details>,
  tag: string | undefined,
): Promise<void> {
  const subject = subjectOf(item)
  let own = aboutItem(item, metadata)
  if (title !== undefined) own = withText(own, subject, titles, title.trim())
  if (description !== undefined) own = withText(own, subject, [DESCRIPTION], description.trim())
  if (tags !== undefined) own = withTexts(own, subject, TAG, tagsIn(tags, valuesOf(own, TAG)))
  await saveMetadata(item, { ...metadata, ...own }, tag)
}

/** Changes only the shown value of these predicates in the metadata. @throws {Problem} status 412 if it has changed since */
export async function saveTexts(
  item: Item,
  metadata: Graph,
  changed: ReadonlyArray<readonly [predicate: string, text: string]>,
  tag: string | undefined,
): Promise<void> {
  const subject = subjectOf(item)
  const own = changed.reduce(
    (graph, [predicate, text]) => withText(graph, subject, [predicate], text, ADDRESS.test(text) ? 'uri' : 'literal'),
    aboutItem(item, metadata),
  )
  await saveMetadata(item, { ...metadata, ...own }, tag)
}

/** The tags in a text. A stored tag that has a comma itself stays whole. */
function tagsIn(text: string, stored: readonly string[]): readonly string[] {
  const whole = stored.filter(tag => tag.includes(',') && text.includes(tag))
  const rest = whole.reduce((rest, tag) => rest.replace(tag, ''), text)
  const words = rest.split(',').map(tag => tag.trim())
  return [...new Set([...whole, ...words.filter(tag => tag !== '')])]
}

interface Place {
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
  const info = { [`${place.contextUri}/resource/_newId`]: { [LABEL]: [{ type: 'literal', value: name }] } }
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
