import { hash } from 'node:crypto'
import { type Graph, graphText, objectsOf, parseGraph, RELATIVE, statementsOf, type Term } from '../graph/graph.ts'
import { dct, rdf, rdfs, store, xsd } from '../graph/vocabulary.ts'
import {
  type Acl,
  type AclSlot,
  type Entry,
  type EntryHead,
  givesAccess,
  isPrincipal,
  resourceOf,
} from '../model/entry.ts'
import { CONTEXTS, entryUri, metadataUri, principalUri, resourceUri } from '../model/addresses.ts'
import { GUEST, USERS } from '../accounts/users.ts'
import { parseTime } from '../base/times.ts'
import { storableText } from '../stores/sql.ts'
import { caseless, comparable } from './fields.ts'

/** Maximum number of field names that a common beginning may stand for. */
export const MAX_FIELDS_UNDER = 1000
/** Behind every text with a common beginning. */
export const MAX_CHARACTER = '\u{10FFFF}'

/** The fields and values of one entry in the index, each pair once. */
export interface IndexFields {
  /** Matched exactly. */
  readonly strings: ReadonlyArray<readonly [field: string, value: string]>
  /** Fields that are searched for parts of words; all values of a field together, one per line. */
  readonly ngrams: ReadonlyMap<string, string>
  /** Searched for words. */
  readonly texts: ReadonlyMap<string, string>
  readonly numbers: ReadonlyArray<readonly [field: string, value: number]>
}

/** Names from other tables that the index holds too. */
interface JoinedNames {
  readonly userName?: string | undefined
  readonly contextName?: string | undefined
}

const DC = 'http://purl.org/dc/elements/1.1/'
const DCT = 'http://purl.org/dc/terms/'
const FOAF = 'http://xmlns.com/foaf/0.1/'
const VCARD = 'http://www.w3.org/2006/vcard/ns#'
const SKOS = 'http://www.w3.org/2004/02/skos/core#'

const titlePredicates = [
  `${FOAF}name`,
  `${VCARD}fn`,
  `${DCT}title`,
  `${DC}title`,
  `${SKOS}prefLabel`,
  `${SKOS}altLabel`,
  `${SKOS}hiddenLabel`,
  'http://www.w3.org/2000/01/rdf-schema#label',
  'http://schema.org/name',
  'https://schema.org/name',
]
const firstNames = [`${FOAF}firstName`, `${FOAF}givenName`, `${VCARD}given-name`]
const lastNames = [`${FOAF}lastName`, `${FOAF}familyName`, `${FOAF}surname`, `${VCARD}family-name`]
const descriptionPredicates = [`${DCT}description`, `${DC}description`]
const tagPredicates = [`${DCT}subject`, `${DC}subject`]
const KEYWORD = 'http://www.w3.org/ns/dcat#keyword'
const languagePredicates = [`${DCT}language`, `${DC}language`]
const emailPredicates = [`${FOAF}mbox`, `${VCARD}hasEmail`, `${VCARD}email`]
const profilePredicates = ['http://entrystore.org/terms/profile', 'http://entryscape.com/terms/entityType']
const PROJECT_TYPE = 'http://entryscape.com/terms/projectType'

const aclFields: Readonly<Record<AclSlot, string>> = {
  admin: 'acl.admin',
  mread: 'acl.metadata.r',
  mwrite: 'acl.metadata.rw',
  rread: 'acl.resource.r',
  rwrite: 'acl.resource.rw',
}

const XSD = xsd.string.slice(0, -'string'.length)
const integerTypes = new Set(
  ['integer', 'long', 'int', 'short', 'byte', 'nonNegativeInteger', 'positiveInteger', 'unsignedInt'].map(
    name => XSD + name,
  ),
)
const dateTypes = new Set(['date', 'dateTime', 'dateTimeStamp', 'gYear', 'gYearMonth'].map(name => XSD + name))

/** Limits for one entry in the index. Searches do not find text beyond them. */
const MAX_PREDICATES = 1000
const MAX_STRING = 4096
const MAX_NGRAM_TEXT = 32_768
const MAX_FULL_TEXT = 262_144

/** The part of a field name that identifies a predicate, as clients write it: a hash of the absolute IRI. */
export const predicateHash = (predicate: string): string => hash('md5', predicate).slice(0, 8)

/** The same part in the index. IRIs under the base address are kept relative, because their hash changes with that address. */
const predicateName = (predicate: string): string =>
  predicate.startsWith(RELATIVE) ? predicate : predicateHash(predicate)

/** The part of an entry that is replaced in the index: its head, which has no full texts, or everything. */
export type IndexSection = 'head' | 'all'

/** Principals who may read the metadata of an entry by its own access list. Queries cannot name this field or the next three. */
export const READERS = 'readers'
/** Principals who may read the metadata of entries of a context that have no access list of their own. */
export const CONTEXT_READERS = 'context.readers'
/** Principals who may read the metadata of the content of a folder, by the access list of the folder. */
export const FOLDER_READERS = 'folder.readers'
/** Principals who may read the metadata of all entries of a context. */
export const CONTEXT_OWNERS = 'context.owners'

/** The field with the single values of a full text, which are compared when the full-text index cannot answer. */
export const valuesField = (field: string): string => `${field}~`
/** Values are compared up to this number of characters. */
const MAX_COMPARED = 300

/** The fields of the head, whether or not the entry has them. */
export const headFields: readonly string[] = [
  ...Object.values(aclFields),
  'contributors',
  'modified',
  'username',
  'contextname',
  READERS,
  CONTEXT_READERS,
  FOLDER_READERS,
  CONTEXT_OWNERS,
]

export function headFieldsOf(entry: EntryHead, names: JoinedNames = {}): IndexFields {
  const index = new Index()
  describeHead(index, entry, names)
  return index.fields()
}

const membersOfBody = [
  'entryType',
  'graphType',
  'resourceType',
  'externalResource',
  'metadata',
  'cachedExternalMetadata',
] as const

/** Whether a change has left everything but the head as it was, as far as the index has it. */
export const haveSameBody = (before: Entry, after: Entry): boolean =>
  membersOfBody.every(member => before[member] === after[member]) &&
  graphText(before.statements) === graphText(after.statements)

export function indexFieldsOf(entry: Entry, names: JoinedNames = {}): IndexFields {
  const index = new Index()
  describeHead(index, entry, names)
  const graphs = metadataOf(entry, parseGraph(entry.metadata))
  describeEntry(index, entry, graphs)
  for (const graph of graphs) {
    describeResource(index, graph, resourceOf(entry))
    describeStatements(index, graph)
  }
  return index.fields()
}

/** Local metadata, the copy of external metadata for a Reference, or both for a LinkReference. */
function metadataOf({ entryType, cachedExternalMetadata: cached }: Entry, metadata: Graph): Graph[] {
  const external = cached === undefined ? [] : [parseGraph(cached)]
  if (entryType === 'Reference') return external
  return entryType === 'LinkReference' ? [metadata, ...external] : [metadata]
}

/** A list of files, folders, links and texts shows and sorts them: by name, format and size. */
const isListed = ({ graphType }: EntryHead): boolean => ['None', 'List', 'String'].includes(graphType)

/** A file has a file name, anything else a title; a link without a title has its target. */
function nameOf({ statements, id, externalResource }: Entry, graphs: readonly Graph[], r: string): string {
  const [label] = objectsOf(statements, r, rdfs.label)
  const [title] = graphs.flatMap(graph =>
    [`${DCT}title`, `${DC}title`].flatMap(predicate => [...objectsOf(graph, r, predicate)]),
  )
  return label?.value ?? title?.value ?? externalResource ?? id
}

/** Fills no fields but {@link headFields}, which nothing else fills. */
function describeHead(index: Index, head: EntryHead, { userName, contextName }: JoinedNames): void {
  const { context, acl, contributors, modified } = head
  index.number('modified', modified)
  index.string('username', userName)
  index.string('contextname', contextName)
  for (const reader of readersOf(acl)) index.string(READERS, reader)
  if (givesAccess(head)) for (const reader of readersOf(acl)) index.string(FOLDER_READERS, reader)
  if (context === CONTEXTS) {
    const { admin = [], rread = [], rwrite = [] } = acl
    for (const owner of admin) index.string(CONTEXT_OWNERS, owner)
    for (const reader of [...admin, ...rread, ...rwrite]) index.string(CONTEXT_READERS, reader)
  }
  for (const contributor of contributors) index.string('contributors', principalUri(contributor))
  for (const [slot, field] of Object.entries(aclFields)) {
    for (const principal of acl[slot as AclSlot] ?? []) if (isPrincipal(principal)) index.string(field, principal)
  }
}

function describeEntry(index: Index, entry: Entry, graphs: readonly Graph[]): void {
  const { statements } = entry
  const r = resourceOf(entry)
  for (const { value } of objectsOf(statements, entryUri(entry), store.term('status'))) index.string('status', value)
  for (const predicate of profilePredicates) {
    for (const { value } of objectsOf(statements, metadataUri(entry), predicate)) index.string('profile', value)
  }
  for (const { value } of objectsOf(statements, r, PROJECT_TYPE)) index.string('projectType', value)
  index.string('uri', entryUri(entry))
  index.string('resource', r)
  index.string('context', resourceUri({ context: CONTEXTS, id: entry.context }))
  index.string('graphType', entry.graphType)
  if (entry.graphType === 'List') index.string('isFolder', 'true')
  index.string('entryType', entry.entryType)
  index.string('resourceType', entry.resourceType)
  if (entry.graphType !== 'None') index.string('rdfType', store.term(entry.graphType))
  if (entry.resourceType !== 'InformationResource') index.string('rdfType', store.term(entry.resourceType))
  for (const type of objectsOf(statements, r, rdf.type)) index.string('rdfType', type.value)
  index.number('created', entry.created)
  if (entry.creator !== undefined) index.string('creator', principalUri(entry.creator))
  if (!isListed(entry)) return
  const name = nameOf(entry, graphs, r)
  index.ngram('name', name)
  index.string(valuesField('name'), comparable(name).slice(0, MAX_COMPARED))
  index.string('format', objectsOf(statements, r, dct.format)[0]?.value)
  index.single('size', readInteger(objectsOf(statements, r, dct.extent)[0]?.value ?? ''))
}

function describeResource(index: Index, graph: Graph, r: string): void {
  const about = (predicates: readonly string[]): Term[] =>
    predicates.flatMap(predicate => [...objectsOf(graph, r, predicate)])
  const literals = (predicates: readonly string[]): Term[] => about(predicates).filter(({ type }) => type === 'literal')

  for (const type of about([rdf.type])) index.string('rdfType', type.value)
  const titles = literals(titlePredicates)
  const [first] = literals(firstNames)
  const [last] = literals(lastNames)
  if (first && last) titles.push({ type: 'literal', value: `${first.value} ${last.value}` })
  for (const { value, lang } of titles) {
    index.ngram('title', value)
    index.ngram(`title.${languageOf(lang)}`, value)
    index.compared('title', value, lang)
    index.text('all', value)
  }
  for (const { value, lang } of literals(descriptionPredicates)) {
    index.ngram('description', value)
    index.text(`description.${languageOf(lang)}`, value)
    index.compared('description', value, lang)
    index.text('all', value)
  }
  for (const { value, lang } of literals([...tagPredicates, KEYWORD])) {
    index.ngram('tag.literal', value)
    index.ngram(`tag.literal.${languageOf(lang)}`, value)
    index.compared('tag.literal', value, lang)
    index.text('all', value)
  }
  for (const { type, value } of about(tagPredicates)) if (type === 'uri') index.string('tag.uri', value)
  for (const { value } of about(languagePredicates)) index.string('lang', value)
  for (const { value } of about(emailPredicates)) index.string('email', value.replace(/^mailto:/i, ''))
}

function describeStatements(index: Index, graph: Graph): void {
  const names = new Map<string, string>()
  for (const { predicate, object } of statementsOf(graph)) {
    if (object.type === 'bnode') continue
    const known = names.get(predicate)
    if (known === undefined && names.size >= MAX_PREDICATES) continue
    const name = known ?? predicateName(predicate)
    names.set(predicate, name)
    const { value, datatype } = object
    if (object.type === 'uri') {
      index.string('metadata.object.uri', value)
      index.string(`metadata.predicate.uri.${name}`, value)
      continue
    }
    if (datatype === undefined) index.text('metadata.object.literal', value)
    index.ngram(`metadata.predicate.literal.${name}`, value)
    index.text(`metadata.predicate.literal_t.${name}`, value)
    index.string(`metadata.predicate.literal_s.${name}`, value)
    if (datatype === undefined) continue
    if (integerTypes.has(datatype)) index.single(`metadata.predicate.integer.${name}`, readInteger(value))
    if (dateTypes.has(datatype)) index.single(`metadata.predicate.date.${name}`, readDate(value))
  }
}

const languageOf = (lang: string | undefined): string => lang?.toLowerCase() ?? 'nolang'

/** A whole number that a double represents exactly. */
export function readInteger(text: string): number | undefined {
  const value = /^[+-]?\d{1,16}$/.test(text.trim()) ? Number(text) : Number.NaN
  return Number.isSafeInteger(value) ? value : undefined
}

/** A time in ISO 8601, or only a year, month or day; without a time zone it is UTC. */
export function readDate(text: string): number | undefined {
  const shape = /^(-?\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?))?)?)?(Z|[+-]\d\d:\d\d)?$/
  const [, year, month = '01', day = '01', time = '00:00', zone = 'Z'] = shape.exec(text.trim()) ?? []
  if (year === undefined) return undefined
  return parseTime(`${year.startsWith('-') ? '-00' + year.slice(1) : year}-${month}-${day}T${time}${zone}`)
}

class Index {
  readonly #strings = new Map<string, readonly [string, string]>()
  readonly #ngrams = new Map<string, string[]>()
  readonly #texts = new Map<string, string[]>()
  readonly #numbers = new Map<string, number>()

  string(field: string, value: string | undefined): void {
    if (value === undefined || value.length > MAX_STRING) return
    this.#strings.set(`${field} ${value}`, [field, storableText(value)])
  }

  /** A value for the field and for the field with its language. */
  compared(field: string, value: string, lang: string | undefined): void {
    const text = comparable(value.slice(0, MAX_COMPARED)).slice(0, MAX_COMPARED)
    this.string(valuesField(field), text)
    this.string(valuesField(`${field}.${languageOf(lang)}`), text)
  }

  ngram(field: string, value: string): void {
    add(this.#ngrams, field, value)
  }

  text(field: string, value: string): void {
    add(this.#texts, field, value)
  }

  number(field: string, value: number): void {
    this.#numbers.set(field, value)
  }

  /** Sets a field that has a single value; later values are ignored. */
  single(field: string, value: number | undefined): void {
    if (value !== undefined && !this.#numbers.has(field)) this.#numbers.set(field, value)
  }

  fields(): IndexFields {
    return {
      strings: [...this.#strings.values()],
      ngrams: joined(this.#ngrams, MAX_NGRAM_TEXT),
      texts: joined(this.#texts, MAX_FULL_TEXT),
      numbers: [...this.#numbers],
    }
  }
}

function add(to: Map<string, string[]>, field: string, value: string): void {
  const values = to.get(field)
  if (values) values.push(value)
  else to.set(field, [value])
}

const joined = (values: ReadonlyMap<string, readonly string[]>, most: number): Map<string, string> =>
  new Map([...values].map(([field, texts]) => [field, storableText(joinLines(new Set(texts), most))]))

/** Joins texts up to the limit: a graph may have thousands of statements with one predicate. */
function joinLines(texts: Iterable<string>, most: number): string {
  const lines: string[] = []
  let length = 0
  for (const text of texts) {
    if (length > most) break
    const line = oneLine(text.slice(0, most))
    lines.push(line)
    length += line.length + 1
  }
  return lines.join('\n').slice(0, most)
}

/**
 * Replaces white space by single spaces. Spaces that are single already are skipped: a long text has a hundred thousand of them, and each
 * replacement takes memory.
 */
const oneLine = (text: string): string => text.replace(/[^\S ]\s*| \s+/g, ' ').trim()

const MAX_SORT_KEY = 100

/** The sort key of a full text. */
export function sortKey(field: string, text: string): string {
  const key = caseless((text.split('\n', 1)[0] ?? '').slice(0, MAX_SORT_KEY)).toWellFormed()
  return field === 'name' ? key.replace(/0*(\d+)/g, (_, digits: string) => withLength(digits)) : key
}

/** Names are sorted by the numbers in them: `record 2` before `record 10`. */
const withLength = (digits: string): string => String(digits.length).padStart(3, '0') + digits

/** A list with one of these lets everybody in, or all who have signed in. */
export const everybody = [GUEST, USERS].map(principalUri)

/**
 * The principals who may read the metadata of an entry by its own access list (W4.2, rule 4). If guests or all users may read them, the
 * other principals are redundant.
 */
function readersOf(acl: Acl): readonly string[] {
  const wide = everybody[opennessOf(acl) - 1]
  const { admin = [], mread = [], mwrite = [] } = acl
  return wide === undefined ? [...admin, ...mread, ...mwrite] : [wide]
}

/** Who may read the metadata of an entry by its own access list, if that are many: 0 nobody but its readers, 1 everybody, 2 all users. */
export function opennessOf({ admin = [], mread = [], mwrite = [] }: Acl): number {
  return 1 + everybody.findIndex(all => [admin, mread, mwrite].some(list => list.includes(all)))
}
