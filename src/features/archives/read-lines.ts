import { InvalidInput } from '../../base/errors.ts'
import type { Milliseconds } from '../../base/units.ts'
import { type Graph, graphText, isAbsoluteIri, mapIris, parseRdfJson, toRelative } from '../../graph/graph.ts'
import {
  type Acl,
  aclSlots,
  type Entry,
  entryTypes,
  graphTypes,
  hasExternalMetadata,
  holdsContent,
  holdsFile,
  isOfSystemContext,
  resourceTypes,
} from '../../model/entry.ts'
import { CONTEXTS, type EntryAddress, isId, PRINCIPALS } from '../../model/addresses.ts'
import type { Membership } from '../../content/list-records.ts'
import type { Revision } from '../../content/revisions.ts'
import { isObject } from '../../base/json.ts'
import { unknownPrincipal } from './principals.ts'
import {
  type FileLine,
  FORMAT,
  type IriForms,
  type Manifest,
  type PrincipalLine,
  type Summary,
  VERSION,
} from './format.ts'

/** An entry as read from an archive; its principals are still those of the archive. */
export interface ReadEntry {
  readonly entry: Entry
  readonly list: Membership | undefined
  readonly file: FileLine | undefined
}

export interface ReadRevision {
  readonly entryId: string
  readonly revision: Revision
}

type Json = Readonly<Record<string, unknown>>

/** @param what names the place in the error message. @throws {InvalidInput} `invalid-archive` */
export const wrong = (what: string): InvalidInput =>
  new InvalidInput('invalid-archive', `The archive is wrong: ${what}.`)

export function requireObject(value: unknown, what: string): Json {
  if (isObject(value)) return value
  throw wrong(`${what} is not a JSON object`)
}

export function readManifest(value: unknown): Manifest {
  const json = requireObject(value, 'the manifest')
  if (json['format'] !== FORMAT || json['version'] !== VERSION) {
    throw wrong(`it is not of the format ${FORMAT}, version ${VERSION}`)
  }
  const { base, context, exported, metadataOnly, lastNumber } = json
  if (typeof base !== 'string' || !/^https?:\/\/[^/?#\s]+\/(?:[^?#\s]*\/)?$/.test(base))
    throw wrong('`base` is not an address')
  if (context === CONTEXTS || context === PRINCIPALS) throw wrong('it is from a system context')
  if (typeof metadataOnly !== 'boolean') throw wrong('`metadataOnly` is not true or false')
  return {
    format: FORMAT,
    version: VERSION,
    base,
    context: requireId(context, 'context'),
    exported: new Date(requireTime(exported, 'exported')).toISOString(),
    metadataOnly,
    lastNumber: requireNumber(lastNumber, 'lastNumber'),
  }
}

export function readSummary(value: unknown): Summary {
  const json = requireObject(value, 'the summary')
  return {
    entries: requireCount(json['entries'], 'entries'),
    revisions: requireCount(json['revisions'], 'revisions'),
    files: requireCount(json['files'], 'files'),
    bytes: requireCount(json['bytes'], 'bytes'),
  }
}

export function readPrincipal(value: unknown): PrincipalLine {
  const { id, kind, name } = requireObject(value, 'a principal')
  if (kind !== 'user' && kind !== 'group') throw wrong('`kind` of a principal is neither user nor group')
  return { id: requireId(id, 'id'), kind, name: name === undefined ? undefined : requireText(name, 'name') }
}

/** Parses lines into entries with relative IRIs, as if the archive came from another context of this service. */
export class LineReader {
  readonly #context: string
  readonly #base: string
  readonly #form: IriForms
  readonly #rename: (iri: string) => string

  constructor(manifest: Manifest, context: string, form: IriForms) {
    this.#context = context
    this.#base = manifest.base
    this.#form = form
    const source = new RegExp(`^\\./(_contexts/[a-z-]+/)?${manifest.context}(?=$|[/?#])`)
    this.#rename = iri =>
      form
        .toRelative(toRelative(manifest.base, iri))
        .replace(source, (_found, of: string | undefined) => `./${of ?? ''}${context}`)
  }

  entry(value: unknown): ReadEntry {
    const json = requireObject(value, 'an entry')
    const address = { context: this.#context, id: requireId(json['id'], 'id') }
    const entry = this.#entry(json, address)
    requireConsistent(entry)
    const file = json['file'] === undefined ? undefined : readFile(json['file'])
    if (file && !holdsFile(entry)) throw wrong(`the entry "${entry.id}" cannot hold a file`)
    return { entry, file, list: json['list'] === undefined ? undefined : readMembership(json['list']) }
  }

  revision(value: unknown): ReadRevision {
    const json = requireObject(value, 'a revision')
    return {
      entryId: requireId(json['entry'], 'entry'),
      revision: {
        number: requireNumber(json['number'], 'number'),
        time: requireTime(json['time'], 'time'),
        author: requireId(json['author'], 'author'),
        metadata: graphText(this.#graph(json['metadata'])),
      },
    }
  }

  #entry(json: Json, address: EntryAddress): Entry {
    const optional = <T>(name: string, read: (value: unknown, name: string) => T): T | undefined =>
      json[name] === undefined ? undefined : read(json[name], name)
    const graph = optional('graph', value => graphText(this.#graph(value)))
    const text = optional('text', requireText)
    if (graph !== undefined && text !== undefined) throw wrong(`the entry "${address.id}" has both a text and a graph`)
    return {
      ...address,
      entryType: requireOneOf(entryTypes, json['entryType'], 'entryType'),
      graphType: requireOneOf(graphTypes, json['graphType'], 'graphType'),
      resourceType: requireOneOf(resourceTypes, json['resourceType'], 'resourceType'),
      externalResource: optional('resource', value => this.#iri(value)),
      externalMetadata: optional('externalMetadata', value => this.#iri(value)),
      created: requireTime(json['created'], 'created'),
      modified: requireTime(json['modified'], 'modified'),
      creator: optional('creator', requireId),
      contributors: requireArray(json['contributors'], 'contributors').map(id => requireId(id, 'contributors')),
      acl: this.#acl(json['acl']),
      folders: [],
      statements: this.#graph(json['info']),
      metadata: graphText(this.#graph(json['metadata'])),
      cachedExternalMetadata: optional('cachedExternalMetadata', value => graphText(this.#graph(value))),
      cached: optional('cached', requireTime),
      content: text ?? graph,
    }
  }

  #acl(value: unknown): Acl {
    const acl: Partial<Record<(typeof aclSlots)[number], readonly string[]>> = {}
    for (const [name, principals] of Object.entries(requireObject(value, '`acl`'))) {
      const slot = requireOneOf(aclSlots, name, 'acl')
      acl[slot] = requireArray(principals, `acl.${slot}`).map(iri => this.#principal(iri))
    }
    return acl
  }

  #iri(value: unknown): string {
    if (typeof value === 'string' && isAbsoluteIri(value)) return this.#rename(value)
    throw wrong('an IRI is not absolute')
  }

  /** A principal URI of THIS service in a foreign archive did not identify a local user and must not grant one access. */
  #principal(value: unknown): string {
    const iri = this.#iri(value)
    const isOfSource = typeof value === 'string' && toRelative(this.#base, value) !== value
    if (isOfSource || typeof value !== 'string' || this.#form.toRelative(value) === value) return iri
    return unknownPrincipal(value)
  }

  #graph(value: unknown): Graph {
    return mapIris(parseRdfJson(value), this.#rename)
  }
}

/** Rejects entries that could not have been created through the interface either. */
function requireConsistent(entry: Entry): void {
  const { id, entryType, graphType, content, metadata } = entry
  const isLocal = entryType === 'Local'
  if (isOfSystemContext(entry)) {
    throw wrong(`the entry "${id}" is a ${graphType}, which a context cannot contain`)
  }
  if (isLocal !== (entry.externalResource === undefined))
    throw wrong(`the entry "${id}" has the wrong kind of resource`)
  if (hasExternalMetadata(entry) !== (entry.externalMetadata !== undefined)) {
    throw wrong(`the entry "${id}" has metadata elsewhere without their address, or the other way round`)
  }
  if (entryType === 'Reference' && metadata !== '{}') throw wrong(`the Reference "${id}" has metadata here`)
  if (content !== undefined && !holdsContent(entry)) throw wrong(`the entry "${id}" cannot hold a text or graph`)
}

function readMembership(value: unknown): Membership {
  const { id, position, trusted } = requireObject(value, '`list`')
  if (trusted !== undefined && typeof trusted !== 'boolean') throw wrong('`list.trusted` is neither true nor false')
  const place = { list: requireId(id, 'list.id'), position: requireNumber(position, 'list.position') }
  return { ...place, isTrusted: trusted !== false }
}

function readFile(value: unknown): FileLine {
  const { size, sha256 } = requireObject(value, '`file`')
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256)) throw wrong('`sha256` is not a SHA-256')
  return { size: requireCount(size, 'size'), sha256 }
}

function requireId(value: unknown, name: string): string {
  if (typeof value === 'string' && isId(value)) return value
  throw wrong(`\`${name}\` is not an id`)
}

/** Rejects NUL and unpaired surrogates, which no engine stores. */
function requireText(value: unknown, name: string): string {
  if (typeof value === 'string' && value.isWellFormed() && !value.includes('\0')) return value
  throw wrong(`\`${name}\` is not a text`)
}

/** The largest number in an archive: the service counts on from it, and an export never contains a larger one. */
const MAX_NUMBER = 1e12
/**
 * One year before the last year that ISO 8601 writes with four digits, because later changes of an entry add milliseconds.
 */
const MAX_TIME: Milliseconds = Date.UTC(9998, 11, 31)

function requireNumber(value: unknown, name: string): number {
  const number = requireCount(value, name)
  if (number <= MAX_NUMBER) return number
  throw wrong(`\`${name}\` is larger than ${MAX_NUMBER}`)
}

function requireCount(value: unknown, name: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw wrong(`\`${name}\` is not a whole number`)
}

function requireTime(value: unknown, name: string): Milliseconds {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN
  if (!Number.isNaN(time) && time >= 0 && time <= MAX_TIME && new Date(time).toISOString() === value) return time
  throw wrong(`\`${name}\` is not a time in ISO 8601 with milliseconds, from 1970 to 9998`)
}

function requireArray(value: unknown, name: string): readonly unknown[] {
  if (Array.isArray(value)) return value as unknown[]
  throw wrong(`\`${name}\` is not an array`)
}

function requireOneOf<T extends string>(known: readonly T[], value: unknown, name: string): T {
  const found = known.find(one => one === value)
  if (found !== undefined) return found
  throw wrong(`\`${name}\` is not one of ${known.join(', ')}`)
}
