import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { firstFile } from '../../src/http/protocol/multipart.ts'

const request = { headers: { 'content-type': 'multipart/form-data; boundary=xX' } } as IncomingMessage

async function* inPieces(body: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < body.length; from += size) yield body.subarray(from, from + size)
}

const skipped = {
  'a field': 'Content-Disposition: form-data; name="a"',
  'a part without a name': 'X-Other: 1',
  'a name with a line break': 'Content-Disposition: form-data; name="f"; filename="a.txt"\ryX',
}

for (const [what, header] of Object.entries(skipped)) {
  test(`the file is found behind ${what}, however long that is and in whatever pieces it comes`, async () => {
    for (const length of [0, 1, 16_384, 60_000, 65_536, 100_000, 1_000_000]) {
      for (const size of [1000, 16_384, 65_536]) {
        const body = Buffer.from(
          `--xX\r\n${header}\r\n\r\n${'-'.repeat(length)}\r\n` +
            '--xX\r\nContent-Disposition: form-data; name="f"; filename="b.txt"\r\n\r\nhello\r\n--xX--\r\n',
        )
        const file = await firstFile(request, inPieces(body, size))
        const chunks: Uint8Array[] = []
        for await (const chunk of file.bytes) chunks.push(chunk)
        assert.deepEqual([file.fileName, Buffer.concat(chunks).toString()], ['b.txt', 'hello'], `${length}, ${size}`)
      }
    }
  })
}

test('a form may have 200 parts before its file, and no more', async () => {
  const form = (parts: number): Buffer =>
    Buffer.from(
      `${'--xX\r\nContent-Disposition: form-data; name="a"; filename="a"\r\n\r\n1\r\n'.repeat(parts)}--xX--\r\n`,
    )
  const read = async (body: Buffer): Promise<string> => {
    const file = await firstFile(request, inPieces(body, 16_384))
    const chunks: Uint8Array[] = []
    for await (const chunk of file.bytes) chunks.push(chunk)
    return Buffer.concat(chunks).toString()
  }
  assert.equal(await read(form(200)), '1')
  for (const parts of [201, 100_000]) {
    await assert.rejects(read(form(parts)), { code: 'invalid-form', message: 'The form has more than 200 parts.' })
  }
})

test('text behind the closing delimiter is dropped, also if it has delimiters, in whatever pieces it comes', async () => {
  const file = '--xX\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\nno end: --xX-- \n--xX--\r\n--xX--'
  const more =
    '\r\n=\r\n--xX--\r\n--xX\r\nContent-Disposition: form-data; name="g"; filename="b"\r\n\r\nother\r\n--xX--\r\n'
  const types = ['multipart/form-data; boundary=xX', 'multipart/form-data; a=b; Boundary="xX"; c=d']
  for (const type of types) {
    const from = { headers: { 'content-type': type } } as IncomingMessage
    for (let size = 1; size <= file.length + more.length; size++) {
      const { bytes, fileName } = await firstFile(from, inPieces(Buffer.from(file + more), size))
      const chunks: Uint8Array[] = []
      for await (const chunk of bytes) chunks.push(chunk)
      assert.deepEqual([fileName, Buffer.concat(chunks).toString()], ['a', 'no end: --xX-- \n--xX--'], `${size}`)
      for (const start of ['', 'before\r\n']) {
        const none = inPieces(Buffer.from(`${start}--xX--${more}`), size)
        await assert.rejects(firstFile(from, none), { code: 'missing-file' })
      }
    }
  }
})
