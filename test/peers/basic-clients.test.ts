import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { java } from '../support/peers/java.ts'
import { type Peer, requirePeer } from '../support/peers/peer.ts'
import { ADMIN_PASSWORD, newContext, newEntry, startProcess } from '../support/service.ts'
import { putFile } from '../support/uploads.ts'

const run = promisify(execFile)
const source = (name: string): string => fileURLToPath(new URL(`../support/peers/${name}`, import.meta.url))
const program = (name: string, path: string): Peer => ({ name, available: () => existsSync(path) })

/** Programs that send name and password only when they are asked for them, and what they print. */
const clients: ReadonlyArray<{
  readonly peer: Peer
  readonly read: (url: string, name: string, password: string) => Promise<{ readonly stdout: string }>
}> = [
  {
    peer: program('wget', '/usr/bin/wget'),
    read: (url, name, password) =>
      run('/usr/bin/wget', ['-q', '-O', '-', `--user=${name}`, `--password=${password}`, url]),
  },
  {
    peer: program('curl --anyauth', '/usr/bin/curl'),
    read: (url, name, password) => run('/usr/bin/curl', ['-fsS', '--anyauth', '-u', `${name}:${password}`, url]),
  },
  {
    peer: program('Python', '/usr/bin/python3'),
    read: (url, name, password) => run('/usr/bin/python3', [source('basic-client.py'), url, name, password]),
  },
  {
    peer: java,
    read: (url, name, password) => run('/usr/bin/java', [source('basic-client.java'), url, name, password]),
  },
]
for (const { peer, read } of clients) {
  test(`${peer.name} is asked for HTTP Basic, and reads a file that guests may not read (D4.1)`, async t => {
    if (!requirePeer(t, peer)) return
    const service = await startProcess(t, { settings: { 'service.auth.http-basic': 'on' } })
    const admin = await service.admin()
    const context = await newContext(admin)
    const file = `${context}/resource/${await newEntry(admin, context)}`
    assert.equal((await putFile(admin, file, Buffer.from('for whom may read it'))).status, 201)
    const { stdout } = await read(service.base + file, 'admin', ADMIN_PASSWORD)
    assert.equal(stdout.trim(), 'for whom may read it')
  })
}
