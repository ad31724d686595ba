/** Names of files and folders in a zip that any system can extract, each once in its folder. */

const MAX_CHARACTERS = 120
/** Separators, what Windows forbids, control characters, and characters that change the direction of text. */
// eslint-disable-next-line no-control-regex
const unsafe = /[/\\:*?"<>|\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu
/** Devices of Windows, with any extension. Superscript digits count as digits, and spaces before the extension do not. */
const reserved = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[\d\u00b9\u00b2\u00b3]) *(?:\.|$)/i

/** One part of a path, made from a name that a user chose. It is never empty, `.` or `..`. */
export function safeName(name: string, otherwise: string): string {
  const cleaned = name.toWellFormed().normalize('NFC').replace(unsafe, '_').trim()
  // Windows drops dots and spaces at the end, so "x." and "x" would be one file.
  const short = shortened(cleaned).replace(/[. ]+$/, '')
  if (short === '') return otherwise
  return reserved.test(short) ? `_${short}` : short
}

/** Keeps the extension of a long name. */
function shortened(name: string): string {
  const characters = [...name]
  if (characters.length <= MAX_CHARACTERS) return name
  const extension = /\.[^.]{1,16}$/.exec(name)?.[0] ?? ''
  return characters.slice(0, MAX_CHARACTERS - extension.length).join('') + extension
}

/** The names that are taken in one folder. */
export class FolderNames {
  readonly #taken = new Set<string>()
  /** Where to go on with a name, so that thousands of files of one name do not each try all numbers again. */
  readonly #next = new Map<string, number>()

  /** The name itself, or with a number before the extension. */
  claim(name: string): string {
    const [, stem = name, extension = ''] = /^(.+?)(\.[^.]{1,16})?$/.exec(name) ?? []
    const wanted = folded(name)
    for (let number = this.#next.get(wanted) ?? 1; ; number++) {
      const tried = number === 1 ? name : `${stem} (${number})${extension}`
      const key = folded(tried)
      if (this.#taken.has(key)) continue
      this.#taken.add(key)
      this.#next.set(wanted, number + 1)
      return tried
    }
  }
}

/**
 * Equal for names that are one name to Windows or macOS, which do not distinguish case. Upper case also makes one of `ß` and `ss` and of the
 * two small sigmas; lower case before it, of `ẞ` and `ß`.
 */
const folded = (name: string): string => name.toLowerCase().toUpperCase().normalize('NFC')
