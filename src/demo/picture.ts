import { crc32, deflateSync } from 'node:zlib'

export type Colour = readonly [red: number, green: number, blue: number]

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
/** Eight bits for each of red, green and blue; no interlacing (PNG, section 11.2.1). */
const FORMAT = [8, 2, 0, 0, 0]

/** A PNG of a landscape: a sky that fades from one colour to another, above hills. Width and height are in pixels. */
export function landscape(
  width: number,
  height: number,
  [top, bottom, hills]: readonly [Colour, Colour, Colour],
): Buffer<ArrayBuffer> {
  const rows = Array.from({ length: height }, (_, y) => {
    const row = Buffer.alloc(1 + width * 3)
    for (let x = 0; x < width; x++) {
      const ridge = height * (0.68 + 0.1 * Math.sin((5 * x) / width) + 0.05 * Math.sin((17 * x) / width))
      row.set(y > ridge ? hills : between(top, bottom, y / height), 1 + x * 3)
    }
    return row
  })
  const size = Buffer.alloc(8)
  size.writeUInt32BE(width, 0)
  size.writeUInt32BE(height, 4)
  const header = Buffer.concat([size, Buffer.from(FORMAT)])
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(rows))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

const between = (from: Colour, to: Colour, share: number): number[] =>
  from.map((value, index) => Math.round(value + ((to[index] ?? value) - value) * share))

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'ascii'), data])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, checksum])
}
