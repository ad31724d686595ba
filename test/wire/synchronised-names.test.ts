import assert from 'node:assert/strict'
import { readFile, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { realSystem } from '../../src/base/system.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { strace } from '../support/peers/strace.ts'
import { enrol } from '../support/second-factors.ts'
import { newUser, startProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('the names of a new data folder, and of the key of authenticator apps, survive a power cut: their folders are synchronised', async t => {
  if (!requirePeer(t, strace)) return
  const folder = await realpath(await temporaryFolder())
  const data = join(folder, 'new', 'data')
  const recording = join(folder, 'calls')
  const service = await startProcess(t, {
    folder,
    settings: { 'service.data.folder': data, 'service.auth.token.store': 'memory' },
    tracer: ['strace', '-D', '-f', '-y', '-o', recording, '-e', 'trace=mkdir,mkdirat,link,linkat,fsync,fdatasync'],
  })
  const user = await newUser(service, await service.admin())
  const app = await enrol(user.visitor, realSystem)
  assert.equal((await user.visitor.post(`auth/factors/${app.id}/confirm`, { code: app.code() })).status, 200)
  await service.stop()

  const calls = (await readFile(recording, 'utf8')).split('\n')
  /** Checks that the folder is synchronised after the call that makes a name in it. */
  const isSynchronised = (made: string, place: string): void => {
    const at = calls.findIndex(call => /\b(mkdir|link)(at)?\(/.test(call) && call.includes(`${made}"`))
    assert.ok(at >= 0, `${made} was not made`)
    const later = calls.slice(at + 1).some(call => call.includes('sync(') && call.includes(`<${place}>`))
    assert.ok(later, `${place} is not synchronised after ${made}`)
  }
  isSynchronised(join(folder, 'new'), folder)
  isSynchronised(data, join(folder, 'new'))
  isSynchronised('/second-factors.key', data)
})
