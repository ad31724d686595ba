import assert from 'node:assert/strict'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import fastify from 'fastify'
import { guestFrom } from '../../src/accounts/caller.ts'
import { Forbidden } from '../../src/base/errors.ts'
import { RunningTransfers } from '../../src/http/running-transfers.ts'

type Dependencies = ConstructorParameters<typeof RunningTransfers>[0]
type Listener = Parameters<Dependencies['cache']['onChanges']>[0]

/** With the little that a guest's download needs, and a function that tells them that anything may have changed. */
function newTransfers() {
  let listener: Listener = () => {}
  const transfers = new RunningTransfers({
    cache: { onChanges: (given: Listener) => (listener = given), readChanges: async () => {} },
    log: { info() {} },
  } as unknown as Dependencies)
  return { transfers, change: () => listener(undefined) }
}

for (const state of ['is open', 'is being closed'] as const) {
  test(`a download whose right has ended ends, also when its connection ${state} (D3.8)`, async t => {
    const { transfers, change } = newTransfers()
    const errors: unknown[] = []
    const app = fastify()
    t.after(() => app.close())
    app.decorateRequest('caller', { getter: () => guestFrom({ address: '192.0.2.7', userAgent: '' }) })
    app.get('/', (request, reply) => {
      const { socket } = request.raw
      socket.on('error', error => errors.push(error))
      transfers.watch(request, reply, async () => {
        throw new Forbidden('not-allowed', 'no longer')
      })
      reply.hijack()
      reply.raw.write('the beginning')
      if (state === 'is being closed') socket.end()
      process.nextTick(change)
    })
    await app.listen({ host: '127.0.0.1', port: 0 })
    const client = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
    const closed = new Promise(resolve => client.once('close', resolve))
    client.on('error', () => {}).resume()
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await closed
    assert.deepEqual(errors, [])
    // Resolves only when no connection is left.
    await app.close()
  })
}
