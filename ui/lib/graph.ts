import { currentLanguage, nameOfLanguage, t } from './language.ts'

/** An object in RDF/JSON: a text, an address, or a blank node. */
export interface Term {
  readonly type: string
  readonly value: string
  readonly lang?: string
  readonly datatype?: string
}

/** A graph in RDF/JSON. */
export type Graph = Readonly<Record<string, Readonly<Record<string, readonly Term[]>>>>

/** Objects of a predicate, for all subjects. */
export const valuesOf = (graph: Graph | undefined, predicate: string): string[] =>
  Object.values(graph ?? {}).flatMap(properties => (properties[predicate] ?? []).map(({ value }) => value))

/** The statements about one thing: metadata may describe others too. */
export function aboutThing(subject: string, graph: Graph | undefined): Graph {
  const own = graph?.[subject]
  return own === undefined ? {} : { [subject]: own }
}

export const RESOURCE = 'http://entrystore.org/terms/resource'

/** The address of what an entry is about, by its info. */
export const resourceIn = (info: Graph): string | undefined => valuesOf(info, RESOURCE)[0]

/** One statement of a graph, by its place. */
interface Statement {
  readonly subject: string
  readonly predicate: string
  readonly index: number
  readonly value: string
  readonly lang: string | undefined
}

/** All statements with these predicates, for all subjects. Blank nodes have no text. */
const statementsOf = (graph: Graph | undefined, predicates: readonly string[]): Statement[] =>
  Object.entries(graph ?? {}).flatMap(([subject, properties]) =>
    predicates.flatMap(predicate =>
      (properties[predicate] ?? []).flatMap(({ type, value, lang }, index) =>
        type === 'bnode' ? [] : [{ subject, predicate, index, value, lang }],
      ),
    ),
  )

/** Whether a value is in the language of the page: `en-GB` is in `en`. */
export const isInMyLanguage = (lang: string | undefined): boolean =>
  lang?.split('-')[0]?.toLowerCase() === currentLanguage()

/** The statement whose text a page shows for these predicates: one in the language of the page if there is one, otherwise the first. */
export function shownStatement(graph: Graph | undefined, predicates: readonly string[]): Statement | undefined {
  const all = statementsOf(graph, predicates)
  return all.find(({ lang }) => isInMyLanguage(lang)) ?? all[0]
}

/** Says in which language the shown text is, if that is not the language of the page. */
export function languageShown(graph: Graph, predicates: readonly string[]): string | undefined {
  const lang = shownStatement(graph, predicates)?.lang
  return lang === undefined || isInMyLanguage(lang) ? undefined : t('textIsIn', { language: nameOfLanguage(lang) })
}

/** The statement that a form with one field changes: one in the language of the page, otherwise one without a language. */
export function ownStatement(graph: Graph | undefined, predicates: readonly string[]): Statement | undefined {
  const all = statementsOf(graph, predicates)
  return all.find(({ lang }) => isInMyLanguage(lang)) ?? all.find(({ lang }) => lang === undefined)
}

/**
 * The graph with the shown text replaced. Language and datatype of the statement, and all other statements, stay. An empty text removes
 * the statement; where none is shown, a new one of this type is added with the first predicate.
 */
export function withText(
  graph: Graph,
  subject: string,
  predicates: readonly string[],
  text: string,
  type: 'literal' | 'uri' = 'literal',
): Graph {
  const shown = shownStatement(graph, predicates)
  if ((shown?.value ?? '') === text) return graph
  return shown
    ? withTextAt(graph, shown, text, type)
    : withTerms(graph, subject, predicates[0] ?? '', terms => [...terms, { type, value: text }])
}

/**
 * The graph with the text of the {@link ownStatement} replaced. Where there is none, a further value is added; it has the language of the
 * page if the other values have languages.
 */
export function withOwnText(graph: Graph, subject: string, predicate: string, text: string): Graph {
  const own = ownStatement(graph, [predicate])
  if ((own?.value ?? '') === text) return graph
  const type = ADDRESS.test(text) ? 'uri' : 'literal'
  if (own) return withTextAt(graph, own, text, type)
  const hasLanguage = type === 'literal' && statementsOf(graph, [predicate]).length > 0
  const added = { type, value: text, ...(hasLanguage ? { lang: currentLanguage() } : {}) }
  return withTerms(graph, subject, predicate, terms => [...terms, added])
}

/** The graph with another text in one statement, or without it if the text is empty. */
function withTextAt(graph: Graph, at: Statement, text: string, type: 'literal' | 'uri'): Graph {
  return withTerms(graph, at.subject, at.predicate, terms =>
    terms.flatMap((term, index) => (index === at.index ? replaced(term, text, type) : [term])),
  )
}

/** The term with another text; nothing for an empty one. Its language and datatype stay. */
export function replaced(term: Term, text: string, type: 'literal' | 'uri' = 'literal'): readonly Term[] {
  if (text === '') return []
  return [term.type === type || isSurelyText(term) ? { ...term, value: text } : { type, value: text }]
}

/** Whether its author wants a text even where it looks like an address. */
const isSurelyText = ({ type, value, lang, datatype }: Term): boolean =>
  type === 'literal' && (lang !== undefined || datatype !== undefined || ADDRESS.test(value))

/** An address is a resource, anything else a text. */
export const ADDRESS = /^https?:\/\/\S+$/

/** The graph with exactly these texts as values of a predicate. Statements whose text stays keep their language and datatype. */
export function withTexts(graph: Graph, subject: string, predicate: string, texts: readonly string[]): Graph {
  const kept = Object.keys(graph).reduce(
    (rest, about) => withTerms(rest, about, predicate, terms => terms.filter(({ value }) => texts.includes(value))),
    graph,
  )
  const present = new Set(
    Object.values(kept).flatMap(properties => (properties[predicate] ?? []).map(({ value }) => value)),
  )
  const added = texts.filter(text => !present.has(text)).map(value => ({ type: 'literal', value }))
  return added.length === 0 ? kept : withTerms(kept, subject, predicate, terms => [...terms, ...added])
}

/** The graph with other objects of a subject and a predicate. */
export function withTerms(
  graph: Graph,
  subject: string,
  predicate: string,
  change: (terms: readonly Term[]) => readonly Term[],
): Graph {
  const { [predicate]: before = [], ...others } = graph[subject] ?? {}
  const after = change(before)
  if (after.length === 0 && before.length === 0) return graph
  return { ...graph, [subject]: after.length === 0 ? others : { ...others, [predicate]: after } }
}

/** Namespaces that people know by their prefixes. */
const prefixes = {
  'http://purl.org/dc/terms/': 'dcterms',
  'http://purl.org/dc/elements/1.1/': 'dc',
  'http://www.w3.org/ns/dcat#': 'dcat',
  'http://xmlns.com/foaf/0.1/': 'foaf',
  'http://www.w3.org/1999/02/22-rdf-syntax-ns#': 'rdf',
  'http://www.w3.org/2000/01/rdf-schema#': 'rdfs',
  'http://www.w3.org/2001/XMLSchema#': 'xsd',
  'http://www.w3.org/2004/02/skos/core#': 'skos',
  'http://www.w3.org/2006/vcard/ns#': 'vcard',
  'http://schema.org/': 'schema',
  'https://schema.org/': 'schema',
} as const

/** An IRI with a known prefix: `dcterms:title`. */
export function shortened(iri: string): string {
  const [start, prefix] = Object.entries(prefixes).find(([start]) => iri.startsWith(start)) ?? []
  return start === undefined ? iri : `${prefix}:${iri.slice(start.length)}`
}

/** The IRI that a name with a known prefix stands for; any other text as it is. */
export function expanded(name: string): string {
  const [start, prefix] = Object.entries(prefixes).find(([, prefix]) => name.startsWith(`${prefix}:`)) ?? []
  return start === undefined ? name : start + name.slice(`${prefix}:`.length)
}
