import { Readable } from 'node:stream'
import { setImmediate as nextIteration } from 'node:timers/promises'
import { findUser } from '../../accounts/users.ts'
import { type NamedGraph, writeDocument } from '../../graph/documents.ts'
import { type Graph, graphOf, literal, parseGraph, type Statement, uri } from '../../graph/graph.ts'
import { rdf } from '../../graph/vocabulary.ts'
import {
  cachedMetadataUri,
  CONTEXTS,
  type EntryAddress,
  entryUri,
  metadataUri,
  relationsUri,
  resourceUri,
} from '../../model/addresses.ts'
import { type Entry, hasExternalMetadata, holdsGraph, isList } from '../../model/entry.ts'
import type { Queries } from '../../stores/database.ts'
import { entryFromRow } from '../../content/entry-columns.ts'
import { findEntry, findNextRow } from '../../content/entry-records.ts'
import { describeInfo } from '../../content/info.ts'
import { listMembers } from '../../content/list-records.ts'
import { escapedProperty } from './java-properties.ts'
import type { IriForms } from './format.ts'
import { principalsIn } from './principals.ts'

/** The members of a zip by which EntryStore exports a context, besides its files (migration/entrystore/formats.md). */
export const TRIPLES = 'triples.rdf'
export const PROPERTIES = 'export.properties'
export const resourceName = (id: string): string => `resources/${id}`

/** Entries after which the right is checked again, and other requests run. */
const BATCH = 50

interface Source {
  readonly database: Queries
  readonly context: string
  readonly form: IriForms
  /** Only metadata and copies of external metadata. */
  readonly metadataOnly: boolean
  /** Called now and then. @throws when the caller may no longer read this */
  readonly check: () => Promise<void>
}

/** The statements of a context in the graphs of EntryStore, and the users in them. */
export class ContextTriples {
  readonly #source: Source
  readonly #users = new Set<string>()

  constructor(source: Source) {
    this.#source = source
  }

  /** @param type of the document, one of `documentTypes` @throws {NotAcceptable} for what the syntax cannot say */
  document(type: string): AsyncGenerator<string> {
    return writeDocument(type, this.#source.form.href, this.#graphs())
  }

  async *#graphs(): AsyncGenerator<NamedGraph> {
    const { database, context, metadataOnly } = this.#source
    const own = metadataOnly ? undefined : await findEntry(database, { context: CONTEXTS, id: context })
    if (own) yield* this.#graphsOf(own)
    let count = 0
    for (let row = await findNextRow(database, { context, id: '' }); row; ) {
      yield* this.#graphsOf(entryFromRow(row))
      if (++count % BATCH === 0) {
        await this.#source.check()
        await nextIteration()
      }
      row = await findNextRow(database, { context, id: row.id })
    }
  }

  async *#graphsOf(entry: Entry): AsyncGenerator<NamedGraph> {
    const { database, form, metadataOnly } = this.#source
    const named = (name: string, graph: Graph): NamedGraph[] =>
      Object.keys(graph).length === 0 ? [] : [{ iri: form.toAbsolute(name), graph: form.absoluteGraph(graph) }]
    if (!metadataOnly) {
      for (const id of principalsIn(entry)) this.#users.add(id)
      yield* named(entryUri(entry), describeInfo(entry))
    }
    if (entry.entryType !== 'Reference') yield* named(metadataUri(entry), parseGraph(entry.metadata))
    if (hasExternalMetadata(entry))
      yield* named(cachedMetadataUri(entry), parseGraph(entry.cachedExternalMetadata ?? '{}'))
    if (!metadataOnly) yield* named(resourceUri(entry), await resourceGraph(database, entry))
  }

  /** As Java writes properties. Complete after the document has been read: it names the users in it. */
  async properties(exported: Date, exportingUser: string): Promise<string> {
    const { database, context, form } = this.#source
    const address: EntryAddress = { context: CONTEXTS, id: context }
    const users: string[] = []
    for (const id of this.#users) {
      const user = await findUser(database, id)
      if (!user) continue
      // A comma separates the users, so such a name cannot be written.
      users.push(user.name === undefined || user.name.includes(',') ? id : `${id}:${user.name}`)
    }
    const values: Readonly<Record<string, string>> = {
      contextEntryURI: form.toAbsolute(entryUri(address)),
      contextResourceURI: form.toAbsolute(resourceUri(address)),
      contextMetadataURI: form.toAbsolute(metadataUri(address)),
      contextRelationURI: form.toAbsolute(relationsUri(address)),
      baseURI: form.href,
      exportDate: exported.toISOString().replace('Z', '+0000'),
      exportingUser: form.toAbsolute(exportingUser),
      containedUsers: users.join(','),
    }
    return Object.entries(values)
      .map(([key, value]) => `${key}=${escapedProperty(value)}\n`)
      .join('')
  }
}

/** The graph that EntryStore stores for a resource; empty for a file and for a resource that is stored elsewhere. */
async function resourceGraph(database: Queries, entry: Entry): Promise<Graph> {
  if (entry.entryType !== 'Local') return {}
  const subject = resourceUri(entry)
  if (holdsGraph(entry)) return parseGraph(entry.content ?? '{}')
  if (entry.graphType === 'String')
    return graphOf([{ subject, predicate: rdf.value, object: literal(entry.content ?? '') }])
  if (!isList(entry)) return {}
  const members = await listMembers(database, entry)
  const statements: Statement[] = members.map((id, index) => ({
    subject,
    predicate: rdf.member(index + 1),
    object: uri(entryUri({ context: entry.context, id })),
  }))
  return graphOf([{ subject, predicate: rdf.type, object: uri(rdf.Seq) }, ...statements])
}

const PIECE = 65_536

/** The text in pieces that are worth a step of the zip each. */
export const textStream = (texts: AsyncIterable<string>): Readable =>
  Readable.from(pieces(texts), { objectMode: false })

async function* pieces(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  let text = ''
  for await (const next of texts) {
    text += next
    if (text.length < PIECE) continue
    yield Buffer.from(text)
    text = ''
  }
  if (text !== '') yield Buffer.from(text)
}
