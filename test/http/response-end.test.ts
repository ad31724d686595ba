import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import type { InvalidInput } from '../../src/base/errors.ts'
import { clientGoneSignal } from '../../src/http/protocol/response-end.ts'

test('work is given up when the client has left before its response, and not after it', async () => {
  const request = { raw: { socket: new EventEmitter() } }
  const signalOf = (raw: object): AbortSignal => clientGoneSignal({ raw, request } as unknown as FastifyReply)
  for (const writableFinished of [false, true]) {
    const late = signalOf({ closed: true, writableFinished })
    await setImmediate()
    assert.equal(late.aborted, !writableFinished)
    const raw = Object.assign(new EventEmitter(), { writableFinished })
    const signal = signalOf(raw)
    assert.equal(signal.aborted, false)
    raw.emit('close')
    await setImmediate()
    assert.equal(signal.aborted, !writableFinished)
    if (!signal.aborted) continue
    const { code, message } = signal.reason as InvalidInput
    assert.deepEqual([code, message], ['bad-request', 'The client has left.'])
  }
})
