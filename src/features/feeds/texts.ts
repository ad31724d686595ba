import { type Graph, objectsOf, type Term } from '../../graph/graph.ts'
import { dc, dct, rdfs } from '../../graph/vocabulary.ts'
import { type Entry, resourceOf } from '../../model/entry.ts'
import { displayName } from '../../content/file-description.ts'

/** The most usual first. */
const titles = [
  dct.title,
  dc.title,
  'http://xmlns.com/foaf/0.1/name',
  'http://www.w3.org/2006/vcard/ns#fn',
  'http://www.w3.org/2004/02/skos/core#prefLabel',
  rdfs.label,
  'http://schema.org/name',
  'https://schema.org/name',
]
const descriptions = [dct.description, dc.description]

/** How people see an entry, in a language if its metadata have it. */
export function textsOf(
  entry: Entry,
  metadata: Graph,
  language: string,
): { readonly title: string; readonly description: string | undefined } {
  const about = resourceOf(entry)
  const firstOf = (predicates: readonly string[]): string | undefined =>
    predicates.map(predicate => inLanguage(objectsOf(metadata, about, predicate), language)).find(text => text)
  return { title: firstOf(titles) ?? displayName(entry), description: firstOf(descriptions) }
}

/** The text in a language, in a variant of it, in none, or in any: the first that there is. */
export function inLanguage(terms: Iterable<Term>, language: string): string | undefined {
  const wanted = language.toLowerCase()
  const rank = ({ lang }: Term): number => {
    const own = lang?.toLowerCase()
    if (own === wanted) return 0
    if (own?.split('-')[0] === wanted.split('-')[0]) return 1
    return own === undefined ? 2 : 3
  }
  const [best] = [...terms].filter(({ type }) => type === 'literal').sort((a, b) => rank(a) - rank(b))
  return best?.value
}
