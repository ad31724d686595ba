import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask } from '../support/http-client.ts'
import { haproxy, startHaproxy } from '../support/peers/haproxy.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { sendRaw } from '../support/raw-request.ts'
import { startProcess } from '../support/service.ts'

/** How many requests of each client. */
const ROUNDS = 30

test('behind a proxy that shares connections, no client gets the response to the malformed body of another (D35.27)', async t => {
  if (!requirePeer(t, haproxy)) return
  const service = await startProcess(t)
  const base = await startHaproxy(t, Number(new URL(service.base).port))

  /** Is answered before its body has come; HAProxy passes the last line on, which is no field of a trailer. */
  const sendMalformed = async (path: string): Promise<void> => {
    const head = [`POST ${path} HTTP/1.1`, 'Content-Type: application/json', 'Transfer-Encoding: chunked']
    const { socket, until, closed } = await sendRaw(base, head, '5\r\nhello\r\n')
    // HAProxy may have closed the connection meanwhile.
    await until(/\r\n\r\n/).catch(() => {})
    socket.end('0\r\nx: a\u0001b\r\n\r\n')
    await closed
  }
  const statuses = new Set<number>()
  const clients = Array.from({ length: 10 }, async () => {
    for (let round = 0; round < ROUNDS; round++) statuses.add((await ask(`${base}management/status`)).status)
  })
  const attackers = ['/%zz', '/a/%c3%28', `/a/entry/${'b'.repeat(1025)}`, '/1'].flatMap(path =>
    Array.from({ length: 3 }, async () => {
      for (let round = 0; round < ROUNDS; round++) await sendMalformed(path)
    }),
  )
  await Promise.all([...clients, ...attackers])
  // HAProxy itself answers 502 where the service has just closed the shared connection.
  statuses.delete(502)
  assert.deepEqual([...statuses], [200])
})
