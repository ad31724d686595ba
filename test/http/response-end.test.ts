import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { test } from 'node:test'
import { onResponseEnd } from '../../src/http/protocol/response-end.ts'

type Connection = EventEmitter & { destroyed: boolean }
const newConnection = (): Connection => Object.assign(new EventEmitter(), { destroyed: false })

function watch(socket: Connection, closed = false) {
  const response = Object.assign(new EventEmitter(), { closed })
  const state = { ends: 0, close: () => void response.emit('close') }
  onResponseEnd({ socket } as unknown as IncomingMessage, response as unknown as ServerResponse, () => state.ends++)
  return state
}

test('a response ends once: with itself, or with its connection', () => {
  const socket = newConnection()
  const [first, second, third] = [watch(socket), watch(socket), watch(socket)]
  first.close()
  assert.deepEqual([first.ends, second.ends, third.ends], [1, 0, 0])
  socket.emit('close')
  assert.deepEqual([first.ends, second.ends, third.ends], [1, 1, 1])
  second.close()
  assert.equal(second.ends, 1)
})

test('a response that has ended, or whose connection has, ends at once', () => {
  const socket = newConnection()
  assert.equal(watch(socket, true).ends, 1)
  socket.destroyed = true
  assert.equal(watch(socket).ends, 1)
})

test('a connection is listened to once, however many responses it owes', () => {
  const socket = newConnection()
  for (let count = 0; count < 50; count++) watch(socket)
  assert.equal(socket.listenerCount('close'), 1)
})
