import assert from 'node:assert/strict'
import { test } from 'node:test'
import { constants, deflateRawSync, gunzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { RepeatedPart } from '../../src/http/protocol/repeated-part.ts'

const LONG = 70_000

const partOf = (text: string, owner: object = {}): RepeatedPart => {
  const part = RepeatedPart.of(owner, text)
  assert.ok(part)
  return part
}

test('a body with a repeated part is the same once decompressed, whatever stands before and after it', async () => {
  const ids = JSON.stringify(Array.from({ length: LONG / 5 }, (_, n) => `é${n}`))
  const part = partOf(ids)
  const text = fc.string({ unit: 'binary', maxLength: 300 })
  const property = fc.asyncProperty(text, text, async (before, after) => {
    const body = Buffer.from(`${before}${ids}${after}`).toString()
    assert.equal(gunzipSync(await part.gzip(body)).toString(), body)
  })
  await fc.assert(property, { seed: 14, numRuns: 100 })
})

test('the part is the same piece of each compressed body, which refers to nothing before it', async () => {
  const ids = 'abcdefgh,'.repeat(LONG)
  const part = partOf(ids)
  const piece = deflateRawSync(ids, { level: 6, finishFlush: constants.Z_FULL_FLUSH })
  for (const body of [`${ids.slice(0, 500)}${ids}}`, `{"children":[],${ids}}}`])
    assert.ok((await part.gzip(body)).includes(piece))
})

test('a part belongs to its owner, and a short text is none', () => {
  const owner = {}
  const part = partOf('a'.repeat(LONG), owner)
  assert.equal(RepeatedPart.of(owner, 'a'.repeat(LONG)), part)
  assert.notEqual(RepeatedPart.of({}, 'a'.repeat(LONG)), part)
  assert.equal(RepeatedPart.of({}, 'a'.repeat(1000)), undefined)
})

test('a body without its part is an error, not a wrong answer', async () => {
  await assert.rejects(partOf('a'.repeat(LONG)).gzip('other'), /does not contain its repeated part/)
})
