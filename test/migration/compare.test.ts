import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { compareServers } from '../../migration/compare/compare.ts'
import { Server } from '../../migration/compare/server.ts'
import { realSystem } from '../../src/base/system.ts'
import { place } from '../support/backups.ts'
import { stowage } from '../support/cli.ts'
import { fixtures } from '../support/entrystore.ts'
import { ADMIN_PASSWORD, program, startProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

async function compare(args: readonly string[], password: string): Promise<{ status: number | null; output: string }> {
  const child = spawn(process.execPath, [program, 'import', 'compare', ...args], { stdio: ['pipe', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stdin.end(`${password}\n`)
  const [status] = (await once(child, 'close')) as [number | null]
  return { status, output }
}

test('compare reads the same entries from both servers and names what differs (D21.12)', async t => {
  const servers = []
  for (let n = 0; n < 2; n++) {
    const folder = await temporaryFolder()
    await stowage(folder, ['import', 'entrystore', join(fixtures, 'backups/nq'), ...(await place(folder))])
    servers.push(await startProcess(t, { folder, settings: { 'service.auth.adminpw': ADMIN_PASSWORD } }))
  }
  const [old, now] = servers
  assert.ok(old && now)
  const args = [old.base, now.base, '--user', 'admin', '--sample', '50']
  const same = await compare(args, ADMIN_PASSWORD)
  assert.equal(same.status, 0, same.output)
  assert.match(same.output, /4 contexts and 27 entries compared, 0 differ/)

  const admin = await now.admin()
  const subject = `${now.base}1/resource/3`
  const title = { 'http://purl.org/dc/terms/title': [{ type: 'literal', value: 'Changed' }] }
  assert.equal((await admin.put('1/metadata/3', { [subject]: title })).status, 204)
  assert.equal((await admin.ask('2/entry/1', { method: 'DELETE' })).status, 204)
  const changed = await compare(args, ADMIN_PASSWORD)
  assert.equal(changed.status, 1, changed.output)
  assert.match(changed.output, /1\/3:\n[^]*only here: metadata: .*Changed/)
  assert.match(changed.output, /2:\n {2}only there: 1/)
  const refused = await compare(args, 'wrong-Password-12')
  assert.equal(refused.status, 1)
  assert.match(refused.output, /refuses admin: status 401/)
  assert.doesNotMatch(refused.output, /wrong-Password/)
  assert.equal((await compare(['nowhere', now.base, '--user', 'admin'], '')).status, 2)
})

type Answers = Readonly<Record<string, unknown>>

/** A server that gives these responses, and 404 to other requests; a function writes the response itself. */
async function serverWith(t: TestContext, answers: Answers): Promise<Server> {
  const listener = createServer((request, response) => {
    const answer = answers[request.url?.replace(/^\/|\?.*$/g, '') ?? '']
    if (request.method === 'POST') response.setHeader('set-cookie', 'auth_token=1').end()
    else if (typeof answer === 'function') (answer as (response: ServerResponse) => void)(response)
    else response.writeHead(answer === undefined ? 404 : 200).end(JSON.stringify(answer))
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  t.after(() => listener.close())
  return await Server.signIn(`http://127.0.0.1:${(listener.address() as AddressInfo).port}/`, 'admin', 'any')
}

const file = { info: { a: { 'http://purl.org/dc/terms/extent': [] } } }

test('a context that was not imported, and a file that breaks off, are differences like others', async t => {
  const both = { _principals: [], '1': ['1', '2'], '1/entry/1': file, '1/entry/2': file, '1/resource/1': 'same' }
  const broken = (response: ServerResponse): void => {
    response.writeHead(200, { 'content-length': 10 }).write('part', () => response.destroy())
  }
  const old = await serverWith(t, {
    ...both,
    _contexts: ['_backup', '1', 'auth', 'a-link'],
    _backup: ['1'],
    auth: [],
    '1/resource/2': broken,
  })
  const now = await serverWith(t, { ...both, _contexts: ['1', 'a-link'], '1/resource/2': broken })
  const { compared, differences } = await compareServers(old, now, { sample: 9, system: realSystem })
  assert.equal(compared, 4)
  assert.deepEqual(
    [...differences].sort((a, b) => (a.entry < b.entry ? -1 : 1)),
    [
      { entry: '1/2', lines: ['file: not readable there, not readable here'] },
      { entry: '_backup', lines: ['status: 200 there, 404 here'] },
      { entry: '_contexts', lines: ['only there: _backup', 'only there: auth'] },
      { entry: 'auth', lines: ['status: 200 there, 404 here'] },
    ],
  )
})
