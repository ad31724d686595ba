import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliDecompressSync } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Compression, StaticText } from '../../src/http/protocol/compression.ts'

const text = 'A text that is long enough to be worth compressing. '.repeat(1000)
const request = { method: 'GET', headers: { 'accept-encoding': 'br' } } as FastifyRequest

function replyOf(type = 'application/json'): { readonly reply: FastifyReply; readonly sent: unknown[] } {
  const headers = new Map<string, unknown>([['content-type', type]])
  const sent: unknown[] = []
  const reply = {
    statusCode: 200,
    getHeader: (name: string) => headers.get(name),
    header: (name: string, value: unknown) => headers.set(name, value) && reply,
    removeHeader: (name: string) => headers.delete(name) && reply,
    send: async (payload: unknown) => sent.push(payload) && reply,
  }
  return { reply: reply as unknown as FastifyReply, sent }
}

/** How many of forty responses at once are compressed, and whether each is the same text. */
async function compressedOf(compression: Compression, shareOf: (index: number) => string): Promise<number> {
  const sent = await Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      const { reply } = replyOf()
      const body = await compression.apply(request, reply, text, shareOf(index))
      const isCoded = reply.getHeader('content-encoding') === 'br'
      assert.equal(isCoded ? brotliDecompressSync(body as Buffer).toString() : body, text)
      return isCoded
    }),
  )
  return sent.filter(Boolean).length
}

test('of many responses at once four are compressed and the others are sent as they are; of one caller three (D14.7)', async () => {
  const compression = new Compression()
  assert.equal(await compressedOf(compression, index => `user ${index}`), 4)
  assert.equal(await compressedOf(compression, () => 'one user'), 3)
  assert.equal(await compressedOf(compression, index => `user ${index}`), 4, 'each has given its place back')
})

test('a text that stays the same is compressed once for all requests (D14.7)', async () => {
  const same = new StaticText(text)
  const { reply, sent } = replyOf()
  await Promise.all(Array.from({ length: 40 }, () => same.send(request, reply)))
  assert.equal(new Set(sent).size, 1)
  assert.equal(brotliDecompressSync(sent[0] as Buffer).toString(), text)
})
