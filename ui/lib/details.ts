import { titles } from './contexts.ts'
import { aboutItem, type Item, saveMetadata, subjectOf, TITLE } from './files.ts'
import { type Graph, isInMyLanguage, replaced, valuesOf, withTerms, withTexts } from './graph.ts'
import { currentLanguage } from './language.ts'

export const DESCRIPTION = 'http://purl.org/dc/terms/description'
export const TAG = 'http://www.w3.org/ns/dcat#keyword'

/** What has a text in each language. */
export const textKinds = { title: titles, description: [DESCRIPTION] } as const
export type TextKind = keyof typeof textKinds

/** The place of one text: which value in its language of a predicate. */
export interface TextPlace {
  readonly predicate: string
  /** Empty for a text without a language. */
  readonly lang: string
  /** Counts the values in this language from 0. */
  readonly number: number
}

/** The name of the field that changes the text. */
export const fieldOf = ({ predicate, lang, number }: TextPlace): string => `${predicate} ${lang} ${number}`

/** The place that the name of a field stands for. */
export function placeOf(field: string): TextPlace {
  const [predicate = '', lang = '', number = ''] = field.split(' ')
  return { predicate, lang, number: Number(number) }
}

export const TAGS = 'tags'

/** The texts of an item, each by the name of its field, and its tags, separated by commas. */
export type Details = Readonly<Record<string, string>>

export const newPlace = (kind: TextKind, lang: string): TextPlace => ({
  predicate: kind === 'title' ? TITLE : DESCRIPTION,
  lang,
  number: 0,
})

/** The texts of one kind: those in the language of the page first, then those without a language. */
export function placesIn(item: Item, metadata: Graph, kind: TextKind): readonly TextPlace[] {
  const about = metadata[subjectOf(item)] ?? {}
  const places = textKinds[kind].flatMap(predicate => {
    const counts = new Map<string, number>()
    return (about[predicate] ?? []).flatMap(({ type, lang = '' }) => {
      if (type === 'bnode') return []
      const number = counts.get(lang) ?? 0
      counts.set(lang, number + 1)
      return [{ predicate, lang, number }]
    })
  })
  const rank = ({ lang }: TextPlace): number => (isInMyLanguage(lang) ? 0 : lang === '' ? 1 : 2)
  return [...places].sort((one, other) => rank(one) - rank(other))
}

/**
 * The fields for the texts of one kind. If all texts are in other languages, the first field adds one in the language of the page; if there
 * is none, it adds one without a language.
 */
export function fieldPlaces(item: Item, metadata: Graph, kind: TextKind): readonly TextPlace[] {
  const places = placesIn(item, metadata, kind)
  if (places.length === 0) return [newPlace(kind, '')]
  const hasOwn = places.some(({ lang }) => lang === '' || isInMyLanguage(lang))
  return hasOwn ? places : [newPlace(kind, currentLanguage()), ...places]
}

export function detailsIn(item: Item, metadata: Graph): Details {
  const about = metadata[subjectOf(item)] ?? {}
  const texts = (['title', 'description'] as const)
    .flatMap(kind => placesIn(item, metadata, kind))
    .map(place => [fieldOf(place), textsIn(about[place.predicate], place.lang)[place.number]?.value ?? ''])
  return { ...(Object.fromEntries(texts) as Details), [TAGS]: tagsOf(item, metadata).join(', ') }
}

type Terms = Graph[string][string]

const textsIn = (terms: Terms = [], language: string): Terms =>
  terms.filter(({ type, lang = '' }) => type !== 'bnode' && lang === language)

export const tagsOf = (item: Item, metadata: Graph): readonly string[] => [
  ...new Set(valuesOf(aboutItem(item, metadata), TAG)),
]

/** Changes only these details in the metadata. An empty text is removed. @throws {Problem} status 412 if it has changed since */
export async function saveDetails(
  item: Item,
  metadata: Graph,
  { [TAGS]: tags, ...texts }: Partial<Details>,
  tag: string | undefined,
): Promise<void> {
  const subject = subjectOf(item)
  let own = aboutItem(item, metadata)
  for (const [field, text = ''] of Object.entries(texts)) own = withField(own, subject, field, text.trim())
  if (tags !== undefined) own = withTexts(own, subject, TAG, tagsIn(tags, valuesOf(own, TAG)))
  await saveMetadata(item, { ...metadata, ...own }, tag)
}

function withField(graph: Graph, subject: string, field: string, text: string): Graph {
  const { predicate, lang, number } = placeOf(field)
  return withTerms(graph, subject, predicate, terms => {
    const before = textsIn(terms, lang)[number]
    if (before) return terms.flatMap(term => (term === before ? replaced(term, text) : [term]))
    return text === '' ? terms : [...terms, { type: 'literal', value: text, ...(lang === '' ? {} : { lang }) }]
  })
}

/** The tags in a text, which commas separate. A stored tag that has a comma itself stays whole. */
export function tagsIn(text: string, stored: readonly string[] = []): readonly string[] {
  const whole = stored.filter(tag => tag.includes(',') && text.includes(tag))
  const rest = whole.reduce((rest, tag) => rest.replace(tag, ''), text)
  const words = rest.split(',').map(tag => tag.trim())
  return [...new Set([...whole, ...words.filter(tag => tag !== '')])]
}
