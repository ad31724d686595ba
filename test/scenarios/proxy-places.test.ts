import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import type { Answer } from '../support/http-client.ts'
import { listen } from '../support/listener.ts'
import { newUser, startInProcess } from '../support/service.ts'
import { eventually } from '../support/waiting.ts'

const REQUESTS = 60

test('documents of a server that is silent take no place from other users of the proxy (D35.23)', async t => {
  const silent: ServerResponse[] = []
  const server = await listen(t, ({ url }, response) => {
    if (url.pathname === '/silent') silent.push(response)
    else response.writeHead(200, { 'content-type': 'text/plain' }).end('here')
  })
  const settings = { 'service.proxy.private-hosts.1': new URL(server.origin).host }
  const service = await startInProcess(t, { settings })
  const admin = await service.admin()
  const [{ visitor: eager }, { visitor: other }] = [await newUser(service, admin), await newUser(service, admin)]
  const path = (name: string) => `proxy?url=${encodeURIComponent(`${server.origin}/${name}`)}`
  const statuses: number[] = []
  const note = ({ status }: Answer) => statuses.push(status)
  const all = Promise.all(Array.from({ length: REQUESTS }, () => eager.get(path('silent')).then(note)))
  await eventually('no more of them are taken', () => statuses.includes(503))
  const answer = await other.get(path('one'))
  assert.deepEqual([answer.status, answer.text], [200, 'here'])
  assert.ok(statuses.length < REQUESTS, 'the others still wait')
  let isOver = false
  void all.then(() => (isOver = true))
  await eventually('the server answers all', () => {
    silent.pop()?.writeHead(404).end()
    return isOver
  })
  assert.deepEqual(new Set(statuses), new Set([502, 503]))
})
