import { createHash } from 'node:crypto'
import { StartupError } from '../../base/errors.ts'
import { hashOf } from './sorted-hashes.ts'

/** Passwords known from leaks, by the filter file of the settings. */
export class BreachedPasswords {
  readonly #filter: { has(hash: number): boolean }

  constructor(filter: { has(hash: number): boolean }) {
    this.#filter = filter
  }

  /** Whether the password, as it is or in lower case, is in the list. @throws {StoreUnavailable} */
  has(password: string): boolean {
    const lower = password.toLowerCase()
    return this.#filter.has(hashOfPassword(password)) || (lower !== password && this.#filter.has(hashOfPassword(lower)))
  }
}

const hashOfPassword = (password: string): number => hashOf(createHash('sha1').update(password, 'utf8').digest())

/** A file to read, with its name for messages. */
interface HashList {
  readonly name: string
  readonly pieces: AsyncIterable<Buffer>
}

/** A file with a longer line is no list of passwords. */
const MAX_LINE = 4096
const SHA1_DIGITS = 40
const [LINE_FEED, RETURN, COLON] = [10, 13, 58]

/**
 * Reads the list "SHA-1, ordered by hash" of Have I Been Pwned: lines of 40 hexadecimal digits, a colon and the number of leaks.
 * @param add gets the first 52 bits of each hash with at least `minCount` leaks, in ascending order over all lists
 * @throws {StartupError} with file and line for anything else
 */
export async function readHashLists(
  lists: readonly HashList[],
  minCount: number,
  add: (hash: number) => void,
): Promise<void> {
  let last = 0
  for (const list of lists) {
    await readLines(list, (bytes, start, end, wrong) => {
      const hash = readHash(bytes, start, end, wrong)
      if (hash < last) throw wrong('the hashes are not in ascending order; use the list that is ordered by hash')
      last = hash
      if (readCount(bytes, start + SHA1_DIGITS, end, wrong) >= minCount) add(hash)
    })
  }
}

/** More passwords of a plain list do not fit in the memory that this takes. */
const MAX_PLAIN = 20_000_000

/** Reads passwords in plain text, one on each line. Returns their hashes in ascending order. @throws {StartupError} */
export async function readPasswordLists(lists: readonly HashList[]): Promise<Float64Array> {
  let hashes = new Float64Array(1024)
  let count = 0
  for (const list of lists) {
    await readLines(list, (bytes, start, end, wrong) => {
      if (count === MAX_PLAIN) throw wrong(`a list in plain text has at most ${MAX_PLAIN} passwords`)
      if (count === hashes.length) {
        const larger = new Float64Array(count * 2)
        larger.set(hashes)
        hashes = larger
      }
      hashes[count++] = hashOfPassword(bytes.toString('utf8', start, end))
    })
  }
  return hashes.subarray(0, count).sort()
}

type LineReader = (bytes: Buffer, start: number, end: number, wrong: (reason: string) => StartupError) => void

/** Calls `read` for each line that is not empty, without its end. */
async function readLines({ name, pieces }: HashList, read: LineReader): Promise<void> {
  let rest: Buffer = Buffer.alloc(0)
  let line = 0
  const wrong = (reason: string): StartupError => new StartupError(`${name}, line ${line}: ${reason}.`)
  const readLine = (bytes: Buffer, start: number, end: number): void => {
    line++
    const last = end > start && bytes[end - 1] === RETURN ? end - 1 : end
    if (last - start > MAX_LINE) throw wrong('the line is too long')
    if (last > start) read(bytes, start, last, wrong)
  }
  for await (const piece of pieces) {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece])
    let start = 0
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      readLine(bytes, start, end)
      start = end + 1
    }
    rest = bytes.subarray(start)
    if (rest.length > MAX_LINE) readLine(rest, 0, rest.length)
  }
  if (rest.length > 0) readLine(rest, 0, rest.length)
}

function readHash(bytes: Buffer, start: number, end: number, wrong: (reason: string) => StartupError): number {
  let digits = start
  let hash = 0
  for (; digits < end; digits++) {
    const digit = digitOf(bytes[digits] ?? 0)
    if (digit < 0) break
    // 13 digits are the 52 bits that count.
    if (digits - start < 13) hash = hash * 16 + digit
  }
  const isWhole = digits === end || bytes[digits] === COLON
  const length = isWhole ? digits - start : 0
  if (length === SHA1_DIGITS) return hash
  if (length === 32) throw wrong('this is an NTLM hash; download the list of SHA-1 hashes')
  if (length === 35) throw wrong('the first five digits of the hash are missing; download the list as a single file')
  throw wrong('expected a SHA-1 hash of 40 hexadecimal digits, a colon and a number')
}

/** A line without a number is treated as one leak. */
function readCount(bytes: Buffer, colon: number, end: number, wrong: (reason: string) => StartupError): number {
  if (colon === end) return 1
  const text = bytes.toString('latin1', colon + 1, end)
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw wrong('the number behind the colon is not a number')
}

function digitOf(character: number): number {
  if (character >= 48 && character <= 57) return character - 48
  const lower = character | 32
  return lower >= 97 && lower <= 102 ? lower - 87 : -1
}
