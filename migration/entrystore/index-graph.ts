import { UNLIMITED } from '../../src/base/units.ts'
import { addressIn, CONTEXTS, type EntryAddress, entryUri, isId, PRINCIPALS } from '../../src/model/addresses.ts'
import { store } from '../../src/graph/vocabulary.ts'
import type { QuadTable, RawStatement } from './quad-table.ts'
import type { Report } from './report.ts'
import type { Survey } from './survey.ts'
import type { Terms } from './terms.ts'

/** The facts that only the index graph of a context may state. */
export interface ContextIndex {
  /** The greatest number that was assigned as an id, according to the index. */
  lastNumber: number
  /** In bytes; `undefined` is the default quota. */
  quota: number | undefined
  /** Entry id → names, of the users and groups in `_principals` or of the contexts in `_contexts`. */
  readonly names: Map<string, string[]>
  /** Ids of deleted entries, in the system contexts only. */
  readonly deleted: Set<string>
}

interface Reading {
  readonly quads: QuadTable
  readonly terms: Terms
  readonly report: Report
  readonly survey: Survey
}

const es = {
  counter: store.term('counter'),
  hasQuota: store.term('hasQuota'),
  hasQuotaFillLevel: store.term('hasQuotaFillLevel'),
  resHasMMd: store.term('resHasMMd'),
  mdHasMMd: store.term('mdHasMMd'),
  alias: store.term('alias'),
  deleted: store.term('deleted'),
  deletedBy: store.term('deletedBy'),
} as const

/** Names of the graphs that contain the index of a context, relative to the base address. */
const indexGraphs = (context: string): readonly string[] =>
  context === CONTEXTS ? [`${CONTEXTS}/resource/${CONTEXTS}`, CONTEXTS] : [context]

/** Reads counter, quota, names and tombstones of a context, and marks the entries in its index. */
export function readContextIndex(context: string, reading: Reading): ContextIndex {
  const index: ContextIndex = { lastNumber: 0, quota: undefined, names: new Map(), deleted: new Set() }
  for (const name of indexGraphs(context)) {
    const graph = reading.quads.find('main', reading.terms.base + name)
    for (const statement of reading.quads.read(graph)) takeStatement(index, context, statement, reading)
  }
  return index
}

function takeStatement(index: ContextIndex, context: string, statement: RawStatement, reading: Reading): void {
  const [rawSubject, predicate, object] = statement
  const { quads, terms, report, survey } = reading
  const place = `index of ${context}`
  const value = typeof object === 'string' ? undefined : object[0]
  const subject = rawSubject.startsWith('_:') ? undefined : terms.iri(rawSubject, place)
  const isAboutContext = indexGraphs(context).some(name => subject === `./${name}`)
  const entry = subject === undefined ? undefined : entryIn(context, subject)
  switch (predicate) {
    case es.resHasMMd:
    case es.mdHasMMd:
      if (typeof object === 'string') quads.markIndexed(object)
      return report.add('derived')
    case es.hasQuotaFillLevel:
      return report.add('derived')
    case es.counter: {
      if (!isAboutContext) break
      const number = Number(value)
      if (!Number.isSafeInteger(number) || number < 0) return report.drop('bad-value', `${place}: counter`)
      index.lastNumber = Math.max(index.lastNumber, number)
      return report.add('imported')
    }
    case es.hasQuota: {
      if (!isAboutContext) break
      const quota = Number(value)
      if (!Number.isSafeInteger(quota) || quota < UNLIMITED) return report.drop('bad-value', `${place}: quota`)
      if (index.quota !== undefined) report.note('several-values', `${place}: quota`)
      index.quota = Math.max(quota, index.quota ?? UNLIMITED)
      return report.add('imported')
    }
    case es.alias:
      if (entry === undefined || value === undefined || !retiresIds(context)) break
      if (!isNamed(entry, survey)) {
        const dropped = context === CONTEXTS ? survey.dropped.get(entry.id) : undefined
        if (dropped) return report.drop(dropped, `${context}/entry/${entry.id}: its name`)
        return report.drop('unknown-statement', `${context}/entry/${entry.id}: the name of nothing`)
      }
      index.names.set(entry.id, [...(index.names.get(entry.id) ?? []), value])
      return report.add('imported')
    case es.deleted:
    case es.deletedBy:
      if (entry === undefined) break
      if (retiresIds(context)) {
        index.deleted.add(entry.id)
        return report.add('imported')
      }
      return report.drop('tombstone-dropped', `${context}/entry/${entry.id}`)
  }
  report.drop('unknown-statement', `${place}: ${predicate}`)
}

function entryIn(context: string, iri: string): EntryAddress | undefined {
  const address = addressIn(iri)
  return address?.context === context && iri === entryUri(address) ? address : undefined
}

const isNamed = ({ context, id }: EntryAddress, { principals, contexts }: Survey): boolean =>
  context === CONTEXTS ? contexts.has(id) : principals.has(id)

/** Ids of users, groups and contexts are never assigned again. */
const retiresIds = (context: string): boolean => context === CONTEXTS || context === PRINCIPALS

/** Collects the ids of deleted entries that must stay taken. */
export class RetiredIds {
  readonly #ids = new Map<string, { readonly context: string; readonly id: string }>()

  add(context: string, id: string): void {
    if (isId(id)) this.#ids.set(`${context}/${id}`, { context, id })
  }

  /** @param isPresent an id in use is not retired */
  list(isPresent: (context: string, id: string) => boolean): Array<{ readonly context: string; readonly id: string }> {
    return [...this.#ids.values()].filter(({ context, id }) => !isPresent(context, id))
  }
}
