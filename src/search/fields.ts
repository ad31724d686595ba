/** How a field is matched (W3.10.4). */
export type FieldKind = 'string' | 'uri' | 'ngram' | 'text' | 'date' | 'integer' | 'boolean'

const kinds: Readonly<Record<string, FieldKind>> = {
  uri: 'uri',
  resource: 'uri',
  context: 'uri',
  graphType: 'string',
  isFolder: 'string',
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

/** `undefined` for an unknown field. */
export function kindOfField(name: string): FieldKind | undefined {
  if (Object.hasOwn(kinds, name)) return kinds[name]
  const [, kind = ''] = predicateField.exec(name) ?? []
  if (Object.hasOwn(predicateKinds, kind)) return predicateKinds[kind]
  const [, text] = /^(title|description|tag\.literal)\.[a-z0-9-]{1,64}$/.exec(name) ?? []
  return text === undefined ? undefined : text === 'description' ? 'text' : 'ngram'
}

/** Language tags are compared without regard to case. EntryStore also has the address of the entry in a field `id`. */
export const fieldName = (written: string): string => {
  if (written === 'id') return 'uri'
  return /^(title|description|tag\.literal)\./.test(written) ? written.toLowerCase() : written
}

/** Prepares texts and queries, so that a search finds texts that look the same. */

/** Most texts have nothing else, and none of the steps below changes these characters but their case. */
const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text)

/** The common form of compatible characters, such as full-width letters and ligatures, without characters that are not shown. */
export const normalised = (text: string): string =>
  isAscii(text) ? text : text.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '')

export const caseless = (text: string): string => normalised(text).toLowerCase()

/** Latin letters without their accents: people type names as their keyboards let them. */
const unaccented = (text: string): string =>
  isAscii(text)
    ? text
    : text
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
  const lowered = comparable(text)
  if (isAscii(lowered)) return lowered.replace(/[^a-z0-9]+/g, ' ').trim()
  return lowered
    .replace(unspaced, ' $& ')
    .replace(emoji, character => ` u${character.codePointAt(0)?.toString(16)} `)
    .replace(/[^\p{L}\p{N}\p{M}\p{Co}]+/gu, ' ')
    .trim()
}

/**
 * The characters of a text that stay together in {@link wordsOf}, in their {@link comparable} form: an emoji is itself. A text with these
 * words contains each of them, whatever is between them.
 */
export const piecesOf = (text: string): string[] =>
  comparable(text)
    .replace(unspaced, ' $& ')
    .replace(emoji, ' $& ')
    .split(/[^\p{L}\p{N}\p{M}\p{Co}\p{Extended_Pictographic}\p{Regional_Indicator}]+/u)
    .filter(piece => piece !== '')

/** Minimum length of a query in characters. One emoji, or two characters of a script without spaces, are enough as well. */
export const MIN_CHARACTERS = 3

/** Whether a piece of a text narrows down which texts contain it. */
export const isNarrow = (piece: string): boolean =>
  [...piece].length >= MIN_CHARACTERS || piece.search(emoji) >= 0 || piece.search(unspaced) >= 0

export function isLongEnough(query: string): boolean {
  return [...query].length >= MIN_CHARACTERS || query.search(emoji) >= 0 || (query.match(unspaced)?.length ?? 0) >= 2
}
