import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import { handleInTurn } from '../../src/http/protocol/pipelines.ts'
import { LoopTurns } from '../../src/http/protocol/loop-turns.ts'
import { readInSlices } from '../../src/http/protocol/sliced-reading.ts'
import { SliceTurns } from '../../src/http/protocol/slice-turns.ts'

test('a client that has all of a response before its server knows is read at full speed (D35.27)', async t => {
  let end = (): void => {}
  const pieces: number[] = []
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      // The client has the whole response, and sends its next request; the response ends when that has come.
      response.writeHead(200, { 'content-length': 2 }).write('ok')
      end = () => response.end()
      return
    }
    request.on('data', (piece: Buffer) => pieces.push(piece.length))
    request.on('end', () => response.end('done'))
  })
  readInSlices(server, new SliceTurns(new LoopTurns(server)))
  handleInTurn(server)
  let requests = 0
  const second = new Promise<void>(resolve => {
    server.prependListener('request', () => {
      if (++requests === 2) resolve()
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  t.after(() => client.destroy())
  client.setEncoding('latin1')
  let received = ''
  const until = async (last: string): Promise<void> => {
    while (!received.endsWith(last)) received += ((await once(client, 'data')) as [string])[0]
  }
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await until('\r\n\r\nok')
  const body = Buffer.alloc(1_000_000)
  client.write(`PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n`)
  await second
  end()
  client.write(body)
  await until('done')
  assert.equal(
    pieces.reduce((sum, length) => sum + length, 0),
    body.length,
  )
  // Node reads up to 65,536 bytes at once.
  assert.ok(Math.max(...pieces) > 4096, String(Math.max(...pieces)))
})
