import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { joinChunks } from '../../src/http/protocol/chunked-bodies.ts'

/** A server that answers with the number of bytes that it has received, and what it received of all bodies in each turn of the event loop. */
async function startServer(t: TestContext) {
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

const LARGE_CHUNK = `10000\r\n${'a'.repeat(65_536)}\r\n`
const countOf = (letter: string, turn: Buffer): number => turn.toString('latin1').split(letter).length - 1

test('of bodies in chunks of one byte, the first bytes too are read a slice in each turn, and joined (D35.19)', async t => {
  const { pieces, turns, upload } = await startServer(t)
  const clients = [await upload(), await upload(), await upload(), await upload()]
  const answers = await Promise.all(clients.map(client => send(client, '1\r\nx\r\n'.repeat(20_000))))
  for (const answer of answers) assert.match(answer, /20000 bytes/)
  // A slice of 4096 bytes has at most 683 chunks of six bytes, and what Node reads at once 10,923. Joined chunks come a turn later.
  const most = Math.max(...turns.map(({ length }) => length))
  assert.ok(most <= 4 * 683, String(most))
  assert.ok(pieces.length < 80_000 / 100, String(pieces.length))
})

test('slices grow while chunks are large, and are small again with the first small ones (D35.19)', async t => {
  const { turns, upload } = await startServer(t)
  const small = 60_000
  const body = LARGE_CHUNK.repeat(32) + '1\r\nx\r\n'.repeat(small) + LARGE_CHUNK
  assert.match(await send(await upload(), body), new RegExp(`${33 * 65_536 + small} bytes`))
  const most = Math.max(...turns.map(turn => countOf('a', turn)))
  assert.ok(most > 32_768, String(most))
  const [first = 0, second = 0] = turns.map(turn => countOf('x', turn)).sort((one, other) => other - one)
  assert.ok(first <= 65_536 / 6 + 64, String(first))
  assert.ok(second <= 4 * 683, String(second))
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
