import { rowOf } from '../../src/content/entry-columns.ts'
import { withStatement } from '../../src/content/info.ts'
import { type Graph, graphOf, graphText, literal, objectsOf, type Statement } from '../../src/graph/graph.ts'
import { dct, rdf, xsd } from '../../src/graph/vocabulary.ts'
import { aclSlots, type Entry, holdsFile, resourceOf, payingUser } from '../../src/model/entry.ts'
import { CONTEXTS, type EntryAddress, PRINCIPALS, resourceUri } from '../../src/model/addresses.ts'
import type { Zone } from './dates.ts'
import type { FileSource } from './old-files.ts'
import { placeOf, principalId, type ReadEntry, readEntryGraph, type RevisionNote } from './entry-graph.ts'
import type { ListMemberships } from './list-memberships.ts'
import { type PrincipalRows, readMembers } from './principal-rows.ts'
import type { OldGraph, QuadTable } from './quad-table.ts'
import type { Report } from './report.ts'
import type { RetiredIds } from './index-graph.ts'
import type { RowTarget } from './row-sink.ts'
import type { Survey } from './survey.ts'
import type { Terms } from './terms.ts'
import { GUEST } from '../../src/accounts/users.ts'

interface Dependencies {
  readonly quads: QuadTable
  readonly terms: Terms
  readonly survey: Survey
  readonly files: FileSource
  readonly rows: RowTarget
  readonly report: Report
  /** The zone of dates without one. Without this setting they are treated as UTC and reported. */
  readonly zone: Zone | undefined
  readonly fallbackTime: number
  readonly principals: PrincipalRows
  readonly lists: ListMemberships
  readonly retired: RetiredIds
  /** A context export lacks the index of the context; as an archive it contains no results of pipelines. */
  readonly isExport: boolean
}

/** Reads entries, each with all graphs that belong to it, and writes their rows. */
export class EntryRows {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** @param graph the entry's own graph; `undefined` when it is not an entry, which has then been reported */
  async add(address: EntryAddress, graph: OldGraph): Promise<{ readonly fileSize: number } | undefined> {
    const { quads, report, rows, isExport } = this.#deps
    const read = readEntryGraph(address, this.#statements(graph, placeOf(address)), this.#deps)
    if (!read) return undefined
    if (!isExport && !quads.isIndexed(graph)) report.note('not-in-index', placeOf(address))
    let entry = this.#withMetadata(this.#withPossibleType(read.entry))
    entry = await this.#withResource({ ...read, entry })
    const file = await this.#addFile(entry)
    if (file) entry = file.entry
    this.#dropRelations(address)
    this.#checkPrincipals(
      entry,
      read.revisions.map(({ author }) => author),
    )
    await rows.add('entries', { ...rowOf(entry) })
    await addRevisions(entry, read.revisions, this.#deps)
    report.count('entries')
    report.count(`entries: ${entry.entryType}${entry.graphType === 'None' ? '' : ` ${entry.graphType}`}`)
    return { fileSize: file?.size ?? 0 }
  }

  #statements(graph: OldGraph | undefined, place: string): Statement[] {
    return this.#deps.terms.graph(this.#deps.quads.read(graph), place)
  }

  /** The statements of the graph with this name, relative to the base address. */
  #named(name: string): Statement[] {
    return this.#statements(this.#deps.quads.find('main', this.#deps.terms.base + name), name)
  }

  /** Users, groups and contexts exist in their system context only. */
  #withPossibleType(entry: Entry): Entry {
    const { context, id, entryType, graphType } = entry
    if (entryType !== 'Local') return entry
    const { survey, report } = this.#deps
    const isPrincipal = graphType === 'User' || graphType === 'Group'
    const isContext = graphType === 'Context' || graphType === 'SystemContext'
    const isPlaced =
      (!isPrincipal && !isContext) ||
      (isPrincipal && context === PRINCIPALS) ||
      (isContext && context === CONTEXTS && survey.contexts.has(id))
    if (isPlaced) return entry
    report.note('misplaced-type', `${placeOf(entry)}: ${graphType}`)
    return { ...entry, graphType: 'None' }
  }

  #withMetadata(entry: Entry): Entry {
    const { context, id, entryType } = entry
    const isReference = entryType === 'Reference'
    const metadata = isReference ? '{}' : graphText(this.#imported(`${context}/metadata/${id}`))
    if (!isReference && entryType !== 'LinkReference') return { ...entry, metadata, cached: undefined }
    const cached = this.#imported(`${context}/cached-external-metadata/${id}`)
    const isThere = Object.keys(cached).length > 0
    return { ...entry, metadata, cachedExternalMetadata: isThere ? graphText(cached) : undefined }
  }

  #imported(name: string) {
    const graph = graphOf(this.#named(name))
    this.#deps.report.add('imported', countOf(graph))
    return graph
  }

  /** Reads the resource of the entry, where it is a graph. */
  async #withResource(read: ReadEntry): Promise<Entry> {
    const { entry } = read
    const { principals, lists, report } = this.#deps
    if (entry.entryType !== 'Local') return entry
    const resource = resourceUri(entry)
    const name = resource.slice(2)
    switch (entry.graphType) {
      case 'User':
        await principals.addUser(read, this.#named(name))
        return entry
      case 'Group':
        await principals.addGroup(read, this.#named(name))
        return entry
      case 'List':
      case 'ResultList':
        lists.add(entry, entry.created, readMembers(resource, this.#named(name), placeOf(entry), report))
        return entry
      case 'String':
        return { ...entry, content: this.#text(entry, this.#named(name)) }
      case 'Pipeline':
        report.note('pipeline-not-run', placeOf(entry))
        return { ...entry, content: JSON.stringify(this.#imported(name)) }
      case 'Graph':
        return { ...entry, content: JSON.stringify(this.#imported(name)) }
      case 'None':
      case 'Context':
      case 'SystemContext':
      case 'PipelineResult':
        return entry
    }
  }

  #text(entry: Entry, statements: readonly Statement[]): string {
    const { report } = this.#deps
    const texts: string[] = []
    for (const { subject, predicate, object } of statements) {
      const isText = subject === resourceUri(entry) && predicate === rdf.value && object.type === 'literal'
      if (isText) texts.push(object.value)
      else report.drop('unknown-statement', `${placeOf(entry)}: ${predicate}`)
    }
    report.add('imported', texts.length)
    if (texts.length > 1) report.note('several-values', `${placeOf(entry)}: text`)
    return texts.sort()[0] ?? ''
  }

  async #addFile(entry: Entry): Promise<{ readonly entry: Entry; readonly size: number } | undefined> {
    const { files, rows, report, isExport } = this.#deps
    const isResult = entry.entryType === 'Local' && entry.graphType === 'PipelineResult'
    if (!holdsFile(entry) && (!isResult || isExport)) return undefined
    const file = await files.take(entry.context, entry.id)
    const [extent] = objectsOf(entry.statements, resourceOf(entry), dct.extent)
    if (!file) {
      if (extent) report.note('file-missing', `${entry.context}/${entry.id}`)
      return undefined
    }
    report.count('files')
    report.count('bytes of files', file.size)
    await rows.add('files', { context: entry.context, entry: entry.id, user_id: payingUser(entry), ...file })
    if (!extent || extent.value === String(file.size)) return { entry, size: file.size }
    report.note('size-differs', `${entry.context}/${entry.id}: ${file.size} bytes instead of ${extent.value}`)
    const real = literal(String(file.size), xsd.long)
    const statements = withStatement(entry.statements, resourceOf(entry), dct.extent, real)
    return { entry: { ...entry, statements }, size: file.size }
  }

  /** The service derives relations from the entries themselves. */
  #dropRelations({ context, id }: EntryAddress): void {
    const { quads, terms, report } = this.#deps
    const graph = quads.find('main', `${terms.base}${context}/relations/${id}`)
    for (const _statement of quads.read(graph)) report.add('derived')
  }

  /** Keeps the ids of deleted users taken, so that no new user inherits their rights or authorship. */
  #checkPrincipals(entry: Entry, authors: ReadonlyArray<string | undefined>): void {
    const { survey, report, retired } = this.#deps
    for (const slot of aclSlots) {
      for (const iri of entry.acl[slot] ?? []) {
        const id = principalId({ type: 'uri', value: iri })
        if (id !== undefined && survey.principals.has(id)) continue
        report.note('unknown-principal', `${placeOf(entry)}: ${slot} ${iri}`)
        if (id !== undefined) retired.add(PRINCIPALS, id)
      }
    }
    for (const id of [entry.creator, ...entry.contributors, ...authors]) {
      if (id !== undefined && !survey.principals.has(id)) retired.add(PRINCIPALS, id)
    }
  }
}

/**
 * Writes the revisions of an entry's metadata. The entry's graph lists them, and the provenance store
 * contains their content; the content of the current one is the metadata themselves.
 */
async function addRevisions(entry: Entry, notes: readonly RevisionNote[], deps: Dependencies): Promise<void> {
  const { quads, terms, rows, report } = deps
  if (notes.some(({ number }, index) => number !== index + 1)) report.note('revision-gap', placeOf(entry))
  for (const [index, note] of notes.entries()) {
    report.count('revisions')
    const place = `${entry.context}/metadata/${entry.id}?rev=${note.number}`
    const found = quads.find('provenance', terms.base + place)
    const kept = graphOf(terms.graph(quads.read(found), place))
    if (found) report.add('imported', countOf(kept))
    const isPresent = note.isPresent && index === notes.length - 1
    if (!isPresent && !found) report.note('revision-without-graph', place)
    await rows.add('metadata_revisions', {
      context: entry.context,
      entry: entry.id,
      number: index + 1,
      time: note.time ?? entry.modified,
      author: note.author ?? GUEST,
      metadata: isPresent ? entry.metadata : graphText(kept),
    })
  }
}

export const countOf = (graph: Graph): number =>
  Object.values(graph).reduce(
    (sum, predicates) => sum + Object.values(predicates).reduce((count, objects) => count + objects.length, 0),
    0,
  )
