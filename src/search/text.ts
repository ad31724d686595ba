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
