import assert from 'node:assert/strict'
import { test } from 'node:test'
import { escapedText } from '../../src/http/protocol/escaped-text.ts'

/** What comes out, with the number of turns of the event loop that other work had before each piece. */
async function piecesOf(...chunks: readonly Uint8Array[]) {
  let turns = 0
  let isOver = false
  const count = (): void => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const pieces = []
  for await (const bytes of escapedText(chunks)) pieces.push({ bytes, turns })
  isOver = true
  return pieces
}

test('other work has a turn between any two pieces, and no piece is long', async () => {
  const pieces = await piecesOf(Buffer.from('<&>'.repeat(1_000_000)))
  assert.equal(Buffer.concat(pieces.map(({ bytes }) => bytes)).toString(), '&#60;&#38;&#62;'.repeat(1_000_000))
  for (const [index, { bytes, turns }] of pieces.entries()) {
    assert.ok(bytes.length <= 5 * 65_536)
    assert.ok(turns >= index, `${turns} turns before piece ${index}`)
  }
})

test('letters that are split between chunks and pieces stay whole, and bytes that are not UTF-8 are replaced', async () => {
  const text = `a"b'ä€😀`.repeat(20_000)
  const bytes = Buffer.from(text)
  for (const at of [1, 65_535, 65_537, bytes.length - 1]) {
    const pieces = await piecesOf(bytes.subarray(0, at), bytes.subarray(at))
    const escaped = text.replaceAll('"', '&#34;').replaceAll("'", '&#39;')
    assert.equal(Buffer.concat(pieces.map(piece => piece.bytes)).toString(), escaped)
  }
  const broken = await piecesOf(Buffer.from([0x3c, 0xff, 0xe2, 0x82]))
  assert.equal(Buffer.concat(broken.map(piece => piece.bytes)).toString(), '&#60;\ufffd\ufffd')
})
