import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { joinChunks } from '../../src/http/protocol/chunked-bodies.ts'
import { LoopTurns } from '../../src/http/protocol/loop-turns.ts'
import { readInSlices } from '../../src/http/protocol/sliced-reading.ts'
import { SliceTurns } from '../../src/http/protocol/slice-turns.ts'

/** A server that answers with the number of bytes that it has received, and what it received of all bodies in each turn of the event loop. */
async function startServer(t: TestContext, monotonic = (): number => 0) {
  const pieces: Buffer[] = []
  const turns: Buffer[] = []
  let present: Buffer[] = []
  const note = (piece: Buffer): void => {
    pieces.push(piece)
    if (present.push(piece) > 1) return
    setImmediate(() => {
      turns.push(Buffer.concat(present))
      present = []
    })
  }
  const server = createServer((request, response) => {
    let count = 0
    request.on('data', (piece: Buffer) => {
      count += piece.length
      note(piece)
    })
    request.on('end', () => response.end(`${count} bytes`))
  })
  readInSlices(server, new SliceTurns(new LoopTurns(server), { monotonic }))
  joinChunks(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  const upload = async (): Promise<Socket> => {
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
    t.after(() => client.destroy())
    client.write('PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n')
    // From now on the parser has the head, so that nothing of the body comes with it.
    await (once(server, 'request') as Promise<[IncomingMessage]>)
    return client
  }
  return { pieces, turns, upload }
}

async function send(client: Socket, body: string): Promise<string> {
  client.setEncoding('latin1')
  client.write(`${body}0\r\n\r\n`)
  let received = ''
  while (!/bytes/.test(received)) received += ((await once(client, 'data')) as [string])[0]
  return received
}

/**
 * A turn has two slices of 512 bytes as they come and two that waited, a chunk of one byte takes six, and chunks are joined until the turn
 * after theirs.
 */
const MAX_IN_TURN = 2 * 4 * Math.ceil(512 / 6)
const LARGE_CHUNK = `10000\r\n${'a'.repeat(65_536)}\r\n`
const countOf = (letter: string, turn: Buffer): number => turn.toString('latin1').split(letter).length - 1

for (const [title, lead] of [
  ['in chunks of one byte', ''],
  ['in large chunks and then in chunks of one byte', LARGE_CHUNK.repeat(32)],
] as const) {
  test(`a body ${title} is read in small slices, and the chunks are joined (D35.19)`, async t => {
    // Each slice takes long.
    let time = 0
    const { pieces, turns, upload } = await startServer(t, () => time++)
    const small = 60_000
    const bytes = small + (lead === '' ? 0 : 32 * 65_536)
    assert.match(await send(await upload(), lead + '1\r\nx\r\n'.repeat(small)), new RegExp(`${bytes} bytes`))
    const most = Math.max(...turns.map(turn => countOf('x', turn)))
    assert.ok(most <= MAX_IN_TURN, String(most))
    assert.ok(pieces.length < small / 10, String(pieces.length))
  })
}

test('slices grow while chunks take no time (D35.19)', async t => {
  const { turns, upload } = await startServer(t, () => 0)
  await send(await upload(), '1\r\nx\r\n'.repeat(1000) + LARGE_CHUNK.repeat(32))
  const most = Math.max(...turns.map(turn => countOf('a', turn)))
  assert.ok(most > 32_768, String(most))
})

test('a body in chunks of all sizes has all its bytes, in their order (D35.19)', async t => {
  const { pieces, upload } = await startServer(t)
  let [body, bytes] = ['', '']
  for (let count = 0; count < 3000; count++) {
    const chunk = String(count).padEnd([1, 5, 700, 1023, 1024, 1025, 2048, 9000][count % 8] ?? 1, '.')
    body += `${chunk.length.toString(16)}\r\n${chunk}\r\n`
    bytes += chunk
  }
  await send(await upload(), body)
  assert.ok(Buffer.concat(pieces).equals(Buffer.from(bytes)))
})

test('a body of known length, on a connection that has had one in chunks, is read in large slices (D35.19)', async t => {
  const { pieces, upload } = await startServer(t)
  const client = await upload()
  await send(client, '1\r\nx\r\n'.repeat(1000))
  const body = 'a'.repeat(1_000_000)
  client.write(`PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  let received = ''
  while (!/bytes/.test(received)) received += ((await once(client, 'data')) as [string])[0]
  assert.match(received, /1000000 bytes/)
  assert.ok(Math.max(...pieces.map(({ length }) => length)) > 32_768)
})
