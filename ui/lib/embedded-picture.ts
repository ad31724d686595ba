/** The small picture that cameras put into the head of a JPEG, and how it is turned. */
export interface EmbeddedPicture {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Quarter turns clockwise until it is upright. */
  readonly turns: number
}

/** Where the Exif block of a JPEG ends at the latest: it comes first, and has at most 64 KiB. */
export const EXIF_BYTES = 65_536 + 20

const APP1 = 0xffe1
const EXIF = 0x4578_6966
const ORIENTATION = 0x0112
const OFFSET = 0x0201
const LENGTH = 0x0202
const ENTRY_BYTES = 12
/** Quarter turns by the value of the orientation; mirrored pictures are rare, and shown as they are. */
const TURNS: Readonly<Record<number, number>> = { 3: 2, 6: 1, 8: 3 }

/** @param head the first {@link EXIF_BYTES} of a JPEG */
export function embeddedPicture(head: Uint8Array<ArrayBuffer>): EmbeddedPicture | undefined {
  try {
    const tiff = tiffIn(new DataView(head.buffer, head.byteOffset, head.byteLength))
    if (!tiff) return undefined
    const [main, small] = directoriesIn(tiff)
    const [offset, length] = [small?.get(OFFSET)?.(32), small?.get(LENGTH)?.(32)]
    if (offset === undefined || length === undefined || tiff.getUint16(offset) !== 0xffd8) return undefined
    const start = tiff.byteOffset - head.byteOffset + offset
    if (start + length > head.length) return undefined
    return { bytes: head.slice(start, start + length), turns: TURNS[main?.get(ORIENTATION)?.(16) ?? 1] ?? 0 }
  } catch (error) {
    // Reading beyond the end: the block is damaged or not whole.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** The TIFF structure of the Exif block (Exif 2.3, 4.5). @throws {RangeError} */
function tiffIn(jpeg: DataView<ArrayBuffer>): DataView | undefined {
  let at = 2
  while (jpeg.getUint16(0) === 0xffd8 && jpeg.getUint8(at) === 0xff) {
    const length = jpeg.getUint16(at + 2)
    if (jpeg.getUint16(at) === APP1 && jpeg.getUint32(at + 4) === EXIF)
      return new DataView(jpeg.buffer, jpeg.byteOffset + at + 10)
    at += 2 + length
  }
  return undefined
}

type Directory = ReadonlyMap<number, (bits: 16 | 32) => number>

/** The values of the main picture, and those of the small one. @throws {RangeError} */
function directoriesIn(tiff: DataView): ReadonlyArray<Directory | undefined> {
  const isLittle = tiff.getUint16(0) === 0x4949
  const directoryAt = (start: number): { readonly values: Directory; readonly next: number } => {
    const count = tiff.getUint16(start, isLittle)
    const values = new Map<number, (bits: 16 | 32) => number>()
    for (let index = 0; index < count; index++) {
      const entry = start + 2 + index * ENTRY_BYTES
      const read = (bits: 16 | 32): number =>
        bits === 16 ? tiff.getUint16(entry + 8, isLittle) : tiff.getUint32(entry + 8, isLittle)
      values.set(tiff.getUint16(entry, isLittle), read)
    }
    return { values, next: tiff.getUint32(start + 2 + count * ENTRY_BYTES, isLittle) }
  }
  const main = directoryAt(tiff.getUint32(4, isLittle))
  return [main.values, main.next === 0 ? undefined : directoryAt(main.next).values]
}
