/** How a field is matched (W3.10.4). */
export type FieldKind = 'string' | 'uri' | 'ngram' | 'text' | 'date' | 'integer' | 'boolean'

const kinds: Readonly<Record<string, FieldKind>> = {
  uri: 'uri',
  resource: 'uri',
  context: 'uri',
  graphType: 'string',
  entryType: 'string',
  resourceType: 'string',
  rdfType: 'uri',
  created: 'date',
  modified: 'date',
  creator: 'uri',
  contributors: 'uri',
  lists: 'uri',
  'acl.admin': 'uri',
  'acl.metadata.r': 'uri',
  'acl.metadata.rw': 'uri',
  'acl.resource.r': 'uri',
  'acl.resource.rw': 'uri',
  public: 'boolean',
  username: 'string',
  contextname: 'string',
  title: 'ngram',
  description: 'ngram',
  'tag.literal': 'ngram',
  'tag.uri': 'uri',
  lang: 'string',
  email: 'string',
  status: 'uri',
  profile: 'uri',
  projectType: 'uri',
  all: 'text',
  name: 'ngram',
  size: 'integer',
  format: 'string',
  'metadata.object.literal': 'text',
  'metadata.object.uri': 'uri',
}

const predicateKinds: Readonly<Record<string, FieldKind>> = {
  literal: 'ngram',
  literal_t: 'text',
  literal_s: 'string',
  uri: 'uri',
  integer: 'integer',
  date: 'date',
}

const predicateField = /^(?:metadata\.predicate)\.([a-z_]+)\.([0-9a-f]{8}|\.\/.*)$/s

/** `undefined` for an unknown field, in which nothing is found. */
export function kindOfField(name: string): FieldKind | undefined {
  if (Object.hasOwn(kinds, name)) return kinds[name]
  const [, kind = ''] = predicateField.exec(name) ?? []
  if (Object.hasOwn(predicateKinds, kind)) return predicateKinds[kind]
  const [, text] = /^(title|description)\.[a-z0-9-]{1,64}$/.exec(name) ?? []
  return text === 'title' ? 'ngram' : text === 'description' ? 'text' : undefined
}

/** Language tags are compared without regard to case. */
export const fieldName = (written: string): string =>
  /^(title|description)\./.test(written) ? written.toLowerCase() : written

/** How texts and queries are prepared, so that a search finds what looks the same. */

/** The common form of compatible characters, such as full-width letters and ligatures, without characters that are not shown. */
export const normalised = (text: string): string =>
  text.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '')

export const caseless = (text: string): string => normalised(text).toLowerCase()

/** Latin letters without their accents: people type names as their keyboards let them. */
const unaccented = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/(?<=[a-z])\p{Mn}+/gu, '')
    .normalize('NFC')

/** The form in which parts of words are compared. */
export const comparable = (text: string): string => unaccented(caseless(text))

/** These scripts have no spaces between words: each character is a word, and several are a phrase. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu
const emoji = /[\p{Extended_Pictographic}\p{Regional_Indicator}]/gu

/**
 * The words of a text with a space between them: letters and digits, in lower case, Latin letters without accents. An emoji becomes a word,
 * because the tokenizers of the databases drop it.
 */
export function wordsOf(text: string): string {
  return comparable(text)
    .replace(unspaced, ' $& ')
    .replace(emoji, character => ` u${character.codePointAt(0)?.toString(16)} `)
    .replace(/[^\p{L}\p{N}\p{M}\p{Co}]+/gu, ' ')
    .trim()
}

/** Minimum length of a query in characters. One emoji, or two characters of a script without spaces, are enough as well. */
export const MIN_CHARACTERS = 3

export function isLongEnough(query: string): boolean {
  return [...query].length >= MIN_CHARACTERS || query.search(emoji) >= 0 || (query.match(unspaced)?.length ?? 0) >= 2
}
