import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { LoopTurns } from '../../src/http/protocol/loop-turns.ts'
import { beginInTurns } from '../../src/http/protocol/request-turns.ts'

/** A request as far as it matters here. */
interface Sent {
  readonly owner: string
  readonly socket: { writable: boolean }
}

/** What begins, in this order, of what is sent in one turn of the event loop. */
function startServer(now = (): number => 0) {
  const begun: Sent[] = []
  const server = createServer(request => void begun.push(request as unknown as Sent))
  beginInTurns(server, { turns: new LoopTurns(server), now, ownerOf: request => (request as unknown as Sent).owner })
  const send = (owner: string, count: number): Sent[] => {
    const all = Array.from({ length: count }, () => ({ owner, socket: { writable: true } }))
    for (const request of all) server.emit('request', request as unknown as IncomingMessage, undefined as never)
    return all
  }
  return { begun, send }
}

test('32 requests begin in a turn of the event loop, and the others in those after it (D35.37)', async () => {
  const { begun, send } = startServer()
  send('anna', 80)
  const counts = [begun.length]
  while (begun.length < 80) {
    await setImmediate()
    counts.push(begun.length)
  }
  assert.deepEqual([...new Set(counts)], [32, 64, 80])
})

test('none begins in a turn after 10 ms of it (D35.37)', async () => {
  let time = 0
  const { begun, send } = startServer(() => time++)
  send('anna', 20)
  assert.ok(begun.length < 12, String(begun.length))
  while (begun.length < 20) await setImmediate()
})

test('callers whose requests wait take turns (D35.37)', async () => {
  const { begun, send } = startServer()
  send('anna', 300)
  send('berta', 2)
  while (begun.length < 302) await setImmediate()
  const places = begun.flatMap(({ owner }, place) => (owner === 'berta' ? [place] : []))
  assert.ok(places.length === 2 && Math.max(...places) < 40, String(places))
})

test('a request that waits is not begun when its client has left (D35.37)', async () => {
  const { begun, send } = startServer()
  const all = send('anna', 40)
  for (const { socket } of all) socket.writable = false
  const [last] = send('anna', 1)
  while (begun.at(-1) !== last) await setImmediate()
  assert.equal(begun.length, 33)
})
