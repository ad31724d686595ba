import type { Milliseconds } from '../../src/base/units.ts'
import { graphOf, type Statement, type Term } from '../../src/graph/graph.ts'
import { dct, owl, prov, rdf, store } from '../../src/graph/vocabulary.ts'
import {
  type Acl,
  type AclSlot,
  type Entry,
  entryTypes,
  graphTypes,
  hasExternalMetadata,
  resourceTypes,
} from '../../src/model/entry.ts'
import {
  addressIn,
  cachedMetadataUri,
  type EntryAddress,
  entryUri,
  metadataUri,
  PRINCIPALS,
  resourceUri,
} from '../../src/model/addresses.ts'
import { readDateTime, utc, type Zone } from './dates.ts'
import type { FindingCode } from './finding-codes.ts'
import type { Report } from './report.ts'

/** A revision of the metadata, as the entry's own graph records it. */
export interface RevisionNote {
  readonly number: number
  time: Milliseconds | undefined
  author: string | undefined
  /** True for the current metadata. */
  isPresent: boolean
}

/**
 * The content of an entry's own graph: the entry without its other graphs, and the data that this service
 * stores elsewhere.
 */
export interface ReadEntry {
  readonly entry: Entry
  readonly revisions: readonly RevisionNote[]
  readonly homeContextUri: string | undefined
}

interface EntryGraphOptions {
  readonly report: Report
  /** The zone of dates without one. Without this setting they are treated as UTC and reported. */
  readonly zone: Zone | undefined
  /** The time of data without a readable date. */
  readonly fallbackTime: Milliseconds
}

const aclOrder = ['admin', 'mread', 'mwrite', 'rread', 'rwrite'] as const satisfies readonly AclSlot[]

/**
 * Reads the entry's own graph, the only one that may state its type, dates, authors, access list, format and
 * revisions. Every statement is accounted for. Returns `undefined`, with all statements reported, when the
 * graph is not an entry.
 */
export function readEntryGraph(
  address: EntryAddress,
  statements: readonly Statement[],
  options: EntryGraphOptions,
): ReadEntry | undefined {
  const resources = new Set(
    statements.flatMap(({ subject, predicate, object }) =>
      subject === entryUri(address) && predicate === store.resource && object.type === 'uri' ? [object.value] : [],
    ),
  )
  const [resource, ...others] = resources
  if (resource === undefined || others.length > 0) {
    const code = resource === undefined ? 'entry-without-resource' : 'several-resources'
    options.report.drop(code, placeOf(address), statements.length)
    return undefined
  }
  const reading = new EntryReading(address, resource, options)
  for (const statement of statements) reading.take(statement)
  return reading.finish()
}

export const placeOf = ({ context, id }: EntryAddress): string => `${context}/entry/${id}`

const derivedOnEntry: ReadonlySet<string> = new Set([
  store.metadata,
  store.relation,
  store.cachedExternalMetadata,
  store.term('referredIn'),
])

const valuesOnEntry: ReadonlyMap<string, string> = new Map([
  [store.resource, 'resource'],
  [store.externalMetadata, 'externalMetadata'],
  [dct.created, 'created'],
  [dct.modified, 'modified'],
  [dct.creator, 'creator'],
  [dct.contributor, 'contributor'],
])

class EntryReading {
  readonly #address: EntryAddress
  readonly #resource: string
  readonly #options: EntryGraphOptions
  readonly #values = new Map<string, string[]>()
  readonly #acl = new Map<AclSlot, Set<string>>()
  /** The access lists of entry, metadata and resource: by the subject and the predicate of their statements. */
  readonly #slots: ReadonlyMap<string, Readonly<Partial<Record<string, AclSlot>>>>
  readonly #revisions = new Map<number, RevisionNote>()
  readonly #rest: Statement[] = []

  constructor(address: EntryAddress, resource: string, options: EntryGraphOptions) {
    this.#address = address
    this.#resource = resource
    this.#options = options
    this.#slots = new Map([
      [resource, { [store.read]: 'rread', [store.write]: 'rwrite' } as const],
      [metadataUri(address), { [store.read]: 'mread', [store.write]: 'mwrite' } as const],
      [entryUri(address), { [store.write]: 'admin' } as const],
    ])
  }

  take(statement: Statement): void {
    const { subject, predicate } = statement
    const { report } = this.#options
    if (subject === entryUri(this.#address) && derivedOnEntry.has(predicate)) return report.add('derived')
    const revision = this.#revisionOf(subject)
    const isTaken =
      this.#takeAccess(statement) ||
      (subject === entryUri(this.#address) && this.#takeOnEntry(statement)) ||
      (subject === this.#resource && this.#takeOnResource(statement)) ||
      (subject === cachedMetadataUri(this.#address) &&
        predicate === store.cached &&
        this.#note('cached', statement.object)) ||
      (revision !== undefined && this.#takeOnRevision(revision, statement))
    if (isTaken) return
    this.#rest.push(statement)
    report.add('imported')
  }

  finish(): ReadEntry {
    const address = this.#address
    const entryType = entryTypes.find(type => this.#values.get('entryType')?.includes(type)) ?? 'Local'
    const isLocal = entryType === 'Local'
    if (isLocal && this.#resource !== resourceUri(address)) this.#report('foreign-resource', this.#resource)
    const [created, modified, cached] = [this.#times('created'), this.#times('modified'), this.#times('cached')]
    const first = created.length > 0 ? Math.min(...created) : undefined
    const last = modified.length > 0 ? Math.max(...modified) : undefined
    const fallback = first ?? last ?? this.#options.fallbackTime
    const creator = this.#principals('creator')
    const contributors = this.#principals('contributor')
    if (creator.length > 1) this.#report('several-values', 'dct:creator')
    if (created.length > 1) this.#report('several-values', 'dct:created')
    if (modified.length > 1) this.#report('several-values', 'dct:modified')
    const externalMetadata = this.#one('externalMetadata')
    const entry: Entry = {
      ...address,
      entryType,
      graphType: this.#type('graphType', graphTypes) ?? 'None',
      resourceType: this.#type('resourceType', resourceTypes) ?? 'InformationResource',
      externalResource: isLocal ? undefined : this.#resource,
      externalMetadata: hasExternalMetadata({ entryType }) ? externalMetadata : undefined,
      created: first ?? fallback,
      modified: Math.max(last ?? fallback, first ?? fallback),
      creator: creator[0],
      contributors,
      acl: this.#accessList(),
      folders: [],
      statements: graphOf(isLocal ? this.#rest.map(statement => this.#ofOwnResource(statement)) : this.#rest),
      metadata: '{}',
      cachedExternalMetadata: undefined,
      cached: cached.length > 0 ? Math.max(...cached) : undefined,
      content: undefined,
    }
    const revisions = [...this.#revisions.values()].sort((a, b) => a.number - b.number)
    return { entry, revisions, homeContextUri: this.#one('homeContext') }
  }

  #takeAccess({ subject, predicate, object }: Statement): boolean {
    const slot = this.#slots.get(subject)?.[predicate]
    if (slot === undefined) return false
    if (object.type !== 'uri') {
      this.#options.report.drop('bad-value', `${placeOf(this.#address)}: a principal that is no IRI`)
      return true
    }
    this.#acl.set(slot, (this.#acl.get(slot) ?? new Set()).add(object.value))
    this.#options.report.add('imported')
    return true
  }

  #takeOnEntry({ predicate, object }: Statement): boolean {
    const what = valuesOnEntry.get(predicate)
    if (what !== undefined) return this.#note(what, object)
    const type = predicate === rdf.type ? entryTypes.find(type => object.value === store.term(type)) : undefined
    return type !== undefined && this.#note('entryType', { type: 'literal', value: type })
  }

  #takeOnResource({ predicate, object }: Statement): boolean {
    if (predicate === store.homeContext && this.#address.context === PRINCIPALS)
      return this.#note('homeContext', object)
    if (predicate !== rdf.type) return false
    const graphType = graphTypes.find(type => object.value === store.term(type))
    if (graphType !== undefined) return this.#note('graphType', { type: 'literal', value: graphType })
    const resourceType = resourceTypes.find(type => object.value === store.term(type))
    return resourceType !== undefined && this.#note('resourceType', { type: 'literal', value: resourceType })
  }

  #takeOnRevision(number: number, { predicate, object }: Statement): boolean {
    const { report, zone } = this.#options
    const known = this.#revisions.get(number)
    const note = known ?? { number, time: undefined, author: undefined, isPresent: false }
    switch (predicate) {
      case prov.generatedAtTime: {
        const read = readDateTime(object.value, zone ?? utc)
        if (!read) report.note('bad-date', `${placeOf(this.#address)}: revision ${number}`)
        note.time = Math.max(note.time ?? 0, read?.time ?? 0)
        report.add('imported')
        break
      }
      case prov.wasAttributedTo: {
        const author = principalId(object)
        note.author = author ?? note.author
        if (author !== undefined) report.add('imported')
        else
          report.drop(
            'bad-value',
            `${placeOf(this.#address)}: the author of revision ${number} is no user of the store`,
          )
        break
      }
      case prov.wasRevisionOf:
        report.add('derived')
        break
      case owl.sameAs:
        note.isPresent = object.value === metadataUri(this.#address)
        report.add('derived')
        break
      default:
        return false
    }
    this.#revisions.set(number, note)
    return true
  }

  #revisionOf(subject: string): number | undefined {
    const prefix = `${metadataUri(this.#address)}?rev=`
    const number = subject.startsWith(prefix) ? subject.slice(prefix.length) : ''
    return /^[1-9]\d{0,8}$/.test(number) ? Number(number) : undefined
  }

  /** Counts the statement as imported; its value is checked at the end. */
  #note(what: string, { value }: Term): true {
    this.#values.set(what, [...(this.#values.get(what) ?? []), value])
    this.#options.report.add('imported')
    return true
  }

  #one(what: string): string | undefined {
    const values = [...(this.#values.get(what) ?? [])].sort()
    if (values.length > 1) this.#report('several-values', what)
    return values[0]
  }

  #type<T extends string>(what: string, known: readonly T[]): T | undefined {
    const values = this.#values.get(what) ?? []
    if (values.length > 1) this.#report('several-values', `${what} ${[...values].sort().join(', ')}`)
    return known.find(type => values.includes(type))
  }

  #times(what: string): Milliseconds[] {
    return (this.#values.get(what) ?? []).flatMap(text => {
      const { zone } = this.#options
      const read = readDateTime(text, zone ?? utc)
      if (!read) this.#report('bad-date', what)
      else if (!read.hasZone && !zone) this.#report('date-without-zone', what)
      return read ? [read.time] : []
    })
  }

  #principals(what: string): string[] {
    const ids = (this.#values.get(what) ?? []).flatMap(value => {
      const id = principalId({ type: 'uri', value })
      if (id === undefined) this.#report('bad-value', `dct:${what} is no user of the store`)
      return id ?? []
    })
    return [...new Set(ids)].sort()
  }

  #accessList(): Acl {
    return Object.fromEntries(
      aclOrder.flatMap(slot => {
        const principals = this.#acl.get(slot)
        return principals ? [[slot, [...principals].sort()]] : []
      }),
    )
  }

  /** A Local entry describes its own resource, whatever address the old store used for it. */
  #ofOwnResource(statement: Statement): Statement {
    return statement.subject === this.#resource ? { ...statement, subject: resourceUri(this.#address) } : statement
  }

  #report(code: FindingCode, what: string): void {
    this.#options.report.note(code, `${placeOf(this.#address)}: ${what}`)
  }
}

/** The id of the principal whose resource has this IRI. */
export function principalId({ type, value }: Term): string | undefined {
  const address = type === 'uri' && value.startsWith(`./${PRINCIPALS}/resource/`) ? addressIn(value) : undefined
  return address?.id
}
