import type { Random } from './random.ts'

/** What text formats trip over: signs with a meaning, oddities of Unicode, numbers at the edge, names of prototypes. */
const ODDITIES = [
  '\0',
  '\r',
  '\n',
  '\t',
  '"',
  "'",
  '\\',
  ';',
  ',',
  '=',
  '%',
  '%00',
  '%zz',
  '%C3%28',
  '&',
  '<',
  '>',
  '<!--',
  '-->',
  '<![CDATA[',
  ']]>',
  '<?x ',
  '<!DOCTYPE a [<!ENTITY b "c">]>',
  '{',
  '}',
  '[',
  ']',
  '(',
  ')',
  ':',
  '/',
  '//',
  '../',
  '*',
  '?',
  '#',
  '@',
  '^',
  '$',
  '|',
  '~',
  '+',
  '-',
  '.',
  '_:',
  '@prefix',
  '"""',
  '\\u0000',
  '\\uD800',
  '\\u12',
  '\u00A0',
  '\u200B',
  '\u202E',
  '\uFEFF',
  '\uFFFF',
  'ſ',
  'İ',
  'ß',
  'é',
  '𝒳',
  '👩‍👩‍👧',
  '\u0301'.repeat(30),
  '-1',
  '0',
  '1e309',
  '-0',
  '0.1',
  '9007199254740993',
  '99999999999999999999',
  'NaN',
  'null',
  'true',
  '__proto__',
  'constructor',
  'toString',
  'q=',
  'bytes=',
  'W/"',
  'W/',
  'for=',
  'filename*=',
  "UTF-8''",
  '--',
].map(text => Buffer.from(text))

/** Sequences of bytes that are not UTF-8. */
const BROKEN = ['80', 'c0af', 'eda080', 'f4908080', 'ff', 'fe', 'c3', 'e282', 'f09f92'].map(hex =>
  Buffer.from(hex, 'hex'),
)

const OPENERS = [
  '(',
  '[',
  '{',
  '<a>',
  '<',
  '[ <b> ',
  '"',
  '((a OR ',
  '{"a":',
  '[[',
  '--',
  ',',
  ';',
  '%',
  '&a=',
  '/',
  '\\',
  ' ',
  '<!--',
  '@',
].map(text => Buffer.from(text))

export interface Shape {
  /** Nothing made is longer than this. */
  readonly most: number
}

/**
 * Something like a piece of the corpus, changed in one to five places: bits and bytes, cut off, doubled, spliced with another
 * piece, nested, run on, oddities put in. Of some pieces little is left; others are nearly right, and those get far.
 */
export function mutated(random: Random, corpus: readonly Buffer[], { most }: Shape): Buffer {
  let bytes: Buffer = Buffer.from(random.pick(corpus))
  for (let changes = 1 + random.below(5); changes > 0; changes--) {
    const next = random.pick(ways)(random, bytes, corpus, most)
    bytes = next.length > most ? Buffer.from(next.subarray(0, most)) : next
  }
  return bytes
}

type Way = (random: Random, bytes: Buffer, corpus: readonly Buffer[], most: number) => Buffer

const ways: readonly Way[] = [
  /** A bit. */
  (random, bytes) => {
    const changed = Buffer.from(bytes)
    const at = random.below(changed.length)
    if (changed.length > 0) changed[at] = (changed[at] ?? 0) ^ (1 << random.below(8))
    return changed
  },
  /** The end. */
  (random, bytes) => bytes.subarray(0, random.below(bytes.length + 1)),
  /** A piece in the middle. */
  (random, bytes) => {
    const [from, to] = stretch(random, bytes)
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)])
  },
  /** A piece once more. */
  (random, bytes) => {
    const [from, to] = stretch(random, bytes)
    return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from)])
  },
  /** A piece many times more. */
  (random, bytes, _corpus, most) => {
    const [from, to] = stretch(random, bytes, 40)
    const times = random.below(Math.max(1, Math.min(5000, Math.floor(most / Math.max(1, to - from)))))
    const run = Array.from({ length: times }, () => bytes.subarray(from, to))
    return Buffer.concat([bytes.subarray(0, from), ...run, bytes.subarray(to)])
  },
  /** The rest of another. */
  (random, bytes, corpus) => {
    const other = random.pick(corpus)
    return Buffer.concat([
      bytes.subarray(0, random.below(bytes.length + 1)),
      other.subarray(random.below(other.length + 1)),
    ])
  },
  (random, bytes) => insert(random, bytes, random.pick(ODDITIES)),
  (random, bytes) => insert(random, bytes, random.pick(ODDITIES)),
  (random, bytes) => insert(random, bytes, random.pick(BROKEN)),
  (random, bytes) => insert(random, bytes, random.bytes(1 + random.below(8))),
  /** Openers that nobody closes. */
  (random, bytes, _corpus, most) => {
    const opener = random.pick(OPENERS)
    const times = random.below(Math.max(1, Math.floor(most / opener.length)))
    return insert(random, bytes, Buffer.concat(Array.from({ length: times }, () => opener)))
  },
  /** A digit for a digit. */
  (random, bytes) => {
    const text = bytes
      .toString('latin1')
      .replace(/\d+/g, digits => (random.chance(30) ? String(random.below(2 ** 31)) : digits))
    return Buffer.from(text, 'latin1')
  },
]

function stretch(random: Random, bytes: Buffer, most = bytes.length): readonly [from: number, to: number] {
  const from = random.below(bytes.length + 1)
  return [from, Math.min(bytes.length, from + random.below(most + 1))]
}

function insert(random: Random, bytes: Buffer, piece: Buffer): Buffer {
  const at = random.below(bytes.length + 1)
  return Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)])
}
