import { Problem } from './api.ts'
import { requireValueOf } from './literals.ts'
import { expanded, type Graph, shortened, type Term, withTerms } from './graph.ts'

/** One statement of a graph. It has no identity but its content. */
export interface Triple {
  readonly subject: string
  readonly predicate: string
  readonly object: Term
}

export const triplesIn = (graph: Graph): Triple[] =>
  Object.entries(graph).flatMap(([subject, properties]) =>
    Object.entries(properties).flatMap(([predicate, terms]) => terms.map(object => ({ subject, predicate, object }))),
  )

const isSameTerm = (one: Term, other: Term): boolean =>
  one.type === other.type && one.value === other.value && one.lang === other.lang && one.datatype === other.datatype

export const isSameTriple = (one: Triple, other: Triple): boolean =>
  one.subject === other.subject && one.predicate === other.predicate && isSameTerm(one.object, other.object)

const objectsOf = (graph: Graph, { subject, predicate }: Triple): readonly Term[] => graph[subject]?.[predicate] ?? []

/** The graph without one statement and with another one. Each may be left out. */
export function withTriple(graph: Graph, before: Triple | undefined, after: Triple | undefined): Graph {
  const less = before ? change(graph, before, others => others) : graph
  return after ? change(less, after, others => [...others, after.object]) : less
}

/** @param change is given the objects beside the one of this statement */
function change(graph: Graph, { subject, predicate, object }: Triple, change: (others: Term[]) => Term[]): Graph {
  return withTerms(graph, subject, predicate, all => change(all.filter(term => !isSameTerm(term, object))))
}

/**
 * What has become of a statement that was in `known`: itself, or the only one that was put into its place; `undefined` if it was removed.
 */
export function latestOf(triple: Triple, known: Graph, latest: Graph): Triple | undefined {
  const terms = objectsOf(latest, triple)
  if (terms.some(term => isSameTerm(term, triple.object))) return triple
  const before = objectsOf(known, triple)
  const [object, ...more] = terms.filter(term => !before.some(other => isSameTerm(term, other)))
  return object && more.length === 0 ? { ...triple, object } : undefined
}

/** A statement as people edit it. */
export type TripleFields = Readonly<Record<'property' | 'value' | 'kind' | 'language', string>>

export const TEXT = 'literal'
export const IRI = 'uri'

export const fieldsOf = (triple: Triple | undefined): TripleFields => ({
  property: triple ? shortened(triple.predicate) : '',
  value: triple?.object.value ?? '',
  kind: triple?.object.type ?? TEXT,
  language: triple?.object.lang ?? '',
})

const ABSOLUTE_IRI = /^[a-z][a-z\d+.-]*:[^\s<>"{}|\\^`]+$/i
const LANGUAGE_TAG = /^[a-z]{1,8}(?:-[a-z\d]{1,8})*$/i

/**
 * The statement with what was changed. What was not changed stays as it is, its datatype too.
 * @throws {Problem} `invalid-property`, `invalid-iri` or `invalid-language-tag`, or those of {@link requireValueOf}
 */
export function changedTriple(before: Triple | undefined, subject: string, changed: Partial<TripleFields>): Triple {
  const { value, kind, language } = { ...fieldsOf(before), ...changed }
  const predicate =
    changed.property === undefined && before ? before.predicate : expanded((changed.property ?? '').trim())
  if (!ABSOLUTE_IRI.test(predicate)) throw new Problem(400, { code: 'invalid-property' })
  return { subject: before?.subject ?? subject, predicate, object: objectOf(before, value, kind, language.trim()) }
}

function objectOf(before: Triple | undefined, value: string, kind: string, language: string): Term {
  if (kind === IRI) {
    if (!ABSOLUTE_IRI.test(value.trim())) throw new Problem(400, { code: 'invalid-iri' })
    return { type: IRI, value: value.trim() }
  }
  if (language === '') {
    const datatype = before?.object.datatype
    requireValueOf(datatype, value)
    return { type: TEXT, value, ...(datatype === undefined ? {} : { datatype }) }
  }
  if (!LANGUAGE_TAG.test(language)) throw new Problem(400, { code: 'invalid-language-tag' })
  return { type: TEXT, value, lang: language }
}
