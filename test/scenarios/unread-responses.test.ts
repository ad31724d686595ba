import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { graphOf, textTerm, TITLE } from '../support/content.ts'
import type { Visitor } from '../support/http-client.ts'
import { newContext, newEntry, startInProcess } from '../support/service.ts'
import { eventually } from '../support/waiting.ts'

/** How many responses to GET of this kind have ended. */
async function endedOf(owner: Visitor, kind: string): Promise<number> {
  const { text } = await owner.get('management/metrics')
  const line = text
    .split('\n')
    .find(one => /requests_total\{/.test(one) && one.includes(`"/:context/${kind}/:entry"`) && one.includes('"GET"'))
  return Number(line?.split(' ').at(-1) ?? 0)
}

test('a connection whose client takes nothing of a response or a file is closed (D35.14)', async t => {
  const impatient = await startInProcess(t, { settings: { 'service.http.body.idle-timeout': '1s' } })
  const owner = await impatient.admin()
  const place = await newContext(owner)
  await newEntry(owner, place, '?id=large')
  const metadata = `${place}/metadata/large`
  const graph = graphOf(`${owner.base}${place}/resource/large`, TITLE, textTerm('x'.repeat(7_000_000)))
  assert.equal((await owner.put(metadata, graph)).status, 204)
  await newEntry(owner, place, '?id=file')
  const body = Buffer.alloc(20_000_000)
  assert.equal((await owner.ask(`${place}/resource/file`, { method: 'PUT', body })).status, 201)
  for (const [kind, path] of [
    ['metadata', metadata],
    ['resource', `${place}/resource/file`],
  ] as const) {
    const { hostname, port, pathname } = new URL(owner.base)
    const head = [`GET ${pathname}${path} HTTP/1.1`, `Host: ${hostname}:${port}`, `Cookie: auth_token=${owner.cookie}`]
    const socket = connect(Number(port), hostname, () => socket.write([...head, '', ''].join('\r\n')))
    socket.on('error', () => {})
    await once(socket, 'readable')
    assert.equal(String(socket.read(12)), 'HTTP/1.1 200')
    await eventually('the response has ended', async () => (await endedOf(owner, kind)) === 1)
    // What is in the buffers of the system still comes, then the end.
    socket.resume()
    await once(socket, 'close')
    assert.ok(socket.bytesRead < 7_000_000, path)
  }
})
