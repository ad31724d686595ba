import { TooLarge } from '../../base/errors.ts'
import type { Bytes } from '../../base/units.ts'

/** All parts except the last need at least this size; only of larger objects a range can be copied. */
const MIN_PART: Bytes = 5 * 2 ** 20
/** Maximum size that a server copies into one part. */
const MAX_COPIED: Bytes = 5 * 2 ** 30
const MAX_PARTS = 10_000

/**
 * The sizes of the parts of an object. All parts except the last have the same size, as Cloudflare R2 requires. An object of more than
 * `count` small parts has large parts, because of the limit of 10,000.
 */
export interface PartSizes {
  /** A smaller object is sent in one request. */
  readonly small: Bytes
  readonly count: number
  /** Divides `small` times `count`. */
  readonly large: Bytes
}

export const PART_SIZES: PartSizes = { small: 8 * 2 ** 20, count: 1000, large: 64 * 2 ** 20 }

/** Size of the n-th part that arrives. */
export const partSize = (n: number, { small, count, large }: PartSizes): Bytes => (n <= count ? small : large)

/** Number of the n-th part that arrives, once the small ones have become large ones. @throws {TooLarge} above 10,000 */
export function partNumber(n: number, { small, count, large }: PartSizes): number {
  if (n <= count) return n
  const number = n - count + (small * count) / large
  if (number <= MAX_PARTS) return number
  const limit = MAX_PARTS * large
  throw new TooLarge('file-too-large', `A file may have at most ${limit} bytes.`, { extra: { limit } })
}

/** An object's place in a bucket. */
export interface S3Object {
  readonly Bucket: string
  readonly Key: string
}

/** One object for the bytes of one append. */
export interface Piece {
  readonly object: S3Object
  readonly offset: Bytes
  readonly size: Bytes
}

/** Whether these are all bytes of a blob, without a gap. */
export function areWhole(pieces: readonly Piece[], size: Bytes): boolean {
  let end = 0
  for (const piece of pieces) {
    if (piece.offset !== end) return false
    end += piece.size
  }
  return end === size
}

/** A part of an object that is made of pieces. */
export interface PlannedPart {
  readonly number: number
  readonly first: Bytes
  readonly end: Bytes
  /** The piece that the server copies it from, as a whole or in part; absent where the service has to send it. */
  readonly copied: Piece | undefined
}

/** Equal parts of which pieces make one object. The pieces are in order and without a gap. */
export function planParts(pieces: readonly Piece[], sizes: PartSizes): PlannedPart[] {
  const size = endOf(pieces.at(-1))
  const bytes = commonSize(pieces) ?? (size <= sizes.small * sizes.count ? sizes.small : sizes.large)
  const parts: PlannedPart[] = []
  let at = 0
  for (let first = 0; first < size; first += bytes) {
    const end = Math.min(first + bytes, size)
    while (endOf(pieces[at]) <= first) at++
    parts.push({ number: parts.length + 1, first, end, copied: copyable(pieces[at], first, end) })
  }
  return parts
}

const endOf = (piece: Piece | undefined): Bytes => (piece ? piece.offset + piece.size : 0)

/** The size of the pieces, if each of them can be a part as it is. */
function commonSize(pieces: readonly Piece[]): Bytes | undefined {
  const common = pieces[0]?.size ?? 0
  const isPart = (size: Bytes, at: number): boolean => (at === pieces.length - 1 ? size <= common : size === common)
  const isSuitable = common >= MIN_PART && common <= MAX_COPIED && pieces.length <= MAX_PARTS
  return isSuitable && pieces.every(({ size }, at) => isPart(size, at)) ? common : undefined
}

function copyable(piece: Piece | undefined, first: Bytes, end: Bytes): Piece | undefined {
  if (!piece || endOf(piece) < end) return undefined
  const isWhole = piece.offset === first && endOf(piece) === end
  return (isWhole ? piece.size <= MAX_COPIED : piece.size > MIN_PART) ? piece : undefined
}
