/**
 * Splits texts into words and trigrams for engines without a tokenizer of their own, exactly as the tokenizers
 * `porter unicode61` and `trigram` of SQLite's FTS5 do, so that a search finds the same with every engine.
 */

/** The words of a text in order: letters and digits, without case and accents, without English endings. */
export function wordsOf(text: string): string[] {
  const words = text.match(/[\p{L}\p{N}\p{Co}][\p{L}\p{N}\p{Co}\p{Mn}]*/gu) ?? []
  return words.map(word => stemOf([...word].map(plain).join('')))
}

/** All distinct trigrams, without case. */
export function trigramsOf(text: string): string[] {
  const characters = [...folded(text)]
  return [...new Set(characters.slice(2).map((last, at) => `${characters[at]}${characters[at + 1]}${last}`))]
}

/** Folds case character by character, independent of neighbouring characters. */
export const folded = (text: string): string => [...text].map(lower).join('')

/** Simple case folding, by way of the capital letter, because some small letters share one. */
function lower(character: string): string {
  const capital = character.toUpperCase()
  const small = (capital.length === character.length && character !== 'ı' ? capital : character).toLowerCase()
  return [...small].length === 1 ? small : character
}

/** Lower case without accent, for accented ASCII letters; a combining accent is dropped. */
function plain(character: string): string {
  if (/^\p{Mn}$/u.test(character)) return ''
  const small = lower(character)
  const [letter = '', accent, ...more] = [...small.normalize('NFD')]
  return accent !== undefined && more.length === 0 && /^[a-z]$/i.test(letter) ? letter.toLowerCase() : small
}

const MIN_STEMMED = 3
const MAX_STEMMED = 64

/** The stem of a word (M. F. Porter, An algorithm for suffix stripping, 1980). */
export function stemOf(word: string): string {
  // FTS5 works on bytes, not on letters.
  const bytes = Buffer.from(word).toString('latin1')
  if (bytes.length < MIN_STEMMED || bytes.length > MAX_STEMMED) return word
  const steps = [withoutPlural, withoutPast, withI, second, third, fourth, withoutE, withoutDoubleL]
  return Buffer.from(
    steps.reduce((rest, step) => step(rest), bytes),
    'latin1',
  ).toString()
}

/** Consonants and vowels as `c` and `v`; y is a vowel after a consonant. */
function shapeOf(stem: string): string {
  let shape = ''
  for (const letter of stem) shape += /[aeiou]/.test(letter) || (letter === 'y' && shape.endsWith('c')) ? 'v' : 'c'
  return shape
}

/** How often a vowel is followed by a consonant. */
const measure = (stem: string): number => shapeOf(stem).match(/v+c+/g)?.length ?? 0
const hasVowel = (stem: string): boolean => shapeOf(stem).includes('v')
const endsShort = (stem: string): boolean => shapeOf(stem).endsWith('cvc') && !/[wxy]$/.test(stem)

function withoutPlural(word: string): string {
  if (/.(sses|ies)$/s.test(word)) return word.slice(0, -2)
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word
}

function withoutPast(word: string): string {
  if (word.length > 3 && word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word
  const [, stem] = /^(.+)(?:ed|ing)$/su.exec(word) ?? []
  if (stem === undefined || !hasVowel(stem)) return word
  if (/(at|bl|iz)$/.test(stem)) return `${stem}e`
  if (/([^aeioulsz\x80-\xff])\1$/.test(stem)) return stem.slice(0, -1)
  return measure(stem) === 1 && endsShort(stem) ? `${stem}e` : stem
}

const withI = (word: string): string =>
  word.endsWith('y') && hasVowel(word.slice(0, -1)) ? `${word.slice(0, -1)}i` : word

/** Replaces the longest matching ending if the measure of the remaining stem is more than `least`. */
function replacing(least: number, endings: Readonly<Record<string, string>>): (word: string) => string {
  const longestFirst = Object.keys(endings).sort((a, b) => b.length - a.length)
  return word => {
    const ending = longestFirst.find(ending => word.length > ending.length && word.endsWith(ending))
    if (ending === undefined) return word
    const stem = word.slice(0, -ending.length)
    if (ending === 'ion' && !/[st]$/.test(stem)) return word
    return measure(stem) > least ? stem + (endings[ending] ?? '') : word
  }
}

const second = replacing(0, {
  ational: 'ate',
  tional: 'tion',
  enci: 'ence',
  anci: 'ance',
  izer: 'ize',
  logi: 'log',
  bli: 'ble',
  alli: 'al',
  entli: 'ent',
  eli: 'e',
  ousli: 'ous',
  ization: 'ize',
  ation: 'ate',
  ator: 'ate',
  alism: 'al',
  iveness: 'ive',
  fulness: 'ful',
  ousness: 'ous',
  aliti: 'al',
  iviti: 'ive',
  biliti: 'ble',
})
const third = replacing(0, { icate: 'ic', ative: '', alize: 'al', iciti: 'ic', ical: 'ic', ful: '', ness: '' })
const removed = 'al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize'
const fourth = replacing(1, Object.fromEntries(removed.split(' ').map(ending => [ending, ''])))

function withoutE(word: string): string {
  if (!word.endsWith('e')) return word
  const stem = word.slice(0, -1)
  const size = measure(stem)
  return size > 1 || (size === 1 && !endsShort(stem)) ? stem : word
}

const withoutDoubleL = (word: string): string =>
  word.endsWith('ll') && measure(word.slice(0, -1)) > 1 ? word.slice(0, -1) : word
