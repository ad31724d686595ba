import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { guestFrom } from '../../src/accounts/caller.ts'
import { RequestTimings } from '../../src/base/request-timings.ts'
import { withReaders } from '../../src/http/readers/readers.ts'
import type { BoundRoute } from '../../src/http/bound-route.ts'
import type { AppServices } from '../../src/http/app-services.ts'

test('the list of the trash is read by another thread, and the trash is emptied where the request has arrived', async () => {
  const readers = {
    run: async () => ({ status: 200, headers: {}, body: 'thread', spent: new RequestTimings().spent }),
    close: async () => {},
  }
  const answerTo = async (method: 'GET' | 'DELETE'): Promise<unknown> => {
    const route = {
      method,
      url: '/:context/trash',
      heavy: method === 'GET' || undefined,
      handle: async () => 'here',
    } as unknown as BoundRoute
    const caller = guestFrom({ address: '127.0.0.1', userAgent: '' })
    const request = { method, url: '/3/trash', caller, headers: {} } as unknown as FastifyRequest
    const handle = withReaders(route, { readers, entries: {} as AppServices['entries'] })
    return await handle(request, { status: () => {}, raw: new EventEmitter() } as unknown as FastifyReply)
  }
  assert.equal(await answerTo('GET'), 'thread')
  assert.equal(await answerTo('DELETE'), 'here')
})
