import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { stowage } from '../support/cli.ts'
import { freePort } from '../support/peers/peer-process.ts'
import { startProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('health succeeds while the service of its settings responds, and afterwards fails with the reason', async t => {
  const port = await freePort()
  const service = await startProcess(t, { settings: { 'service.http.port': String(port) } })
  const { host } = new URL(service.base)
  const folder = await temporaryFolder()
  const ask = (...sets: string[]) => stowage(folder, ['health', ...sets.flatMap(one => ['--set', one])])
  for (const sets of [[], ['service.http.host=0.0.0.0'], ['service.baseurl.folder=https://content.example/store/']]) {
    const { status, stdout } = await ask(`service.http.port=${port}`, ...sets)
    assert.deepEqual([status, stdout], [0, `The service at ${host} responds.\n`])
  }
  await service.stop()
  const { status, stdout, stderr } = await ask(`service.http.port=${port}`)
  assert.deepEqual([status, stdout], [1, ''])
  assert.match(stderr, new RegExp(`^stowage health: no service responds at ${host}: .*ECONNREFUSED`))
})

test('health counts any other response than 200 as a failure', async t => {
  const server = createServer((_, response) => void response.writeHead(503).end()).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const { status, stderr } = await stowage(await temporaryFolder(), ['health', '--set', `service.http.port=${port}`])
  assert.deepEqual([status, stderr], [1, `stowage health: the service at 127.0.0.1:${port} responds with 503\n`])
})
