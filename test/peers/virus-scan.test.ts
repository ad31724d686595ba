import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { Clamd } from '../../src/features/virus-scan/clamd.ts'
import { stowage } from '../support/cli.ts'
import { assertRefused } from '../support/content.ts'
import { clamav, INFECTED, startClamd } from '../support/peers/clamav.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { newContext, newEntry, startInProcess } from '../support/service.ts'
import { putFile } from '../support/uploads.ts'

const MIB = 2 ** 20

test('real clamd finds what it has a signature for, by TCP and by its socket, and its limit is reported (D32.1)', async t => {
  if (!requirePeer(t, clamav)) return
  const clamd = await startClamd(t, '2M')
  for (const place of clamd.places) {
    const settings = { 'service.data.virus-scan': place, 'service.data.virus-scan.max-size': '-1' }
    const service = await startInProcess(t, { settings })
    const admin = await service.admin()
    const context = await newContext(admin)
    const path = `${context}/resource/${await newEntry(admin, context)}`
    for (const clean of [Buffer.alloc(0), Buffer.from('text'), randomBytes(2 * MIB)]) {
      const stored = await putFile(admin, path, clean)
      assert.equal(stored.status, 201, stored.text)
    }
    for (const bytes of [Buffer.from(INFECTED), Buffer.concat([randomBytes(MIB), Buffer.from(INFECTED)])]) {
      const refused = await putFile(admin, path, bytes)
      assertRefused(refused, 400, 'virus-found')
      assert.equal(refused.json()['signature'], 'Stowage.Test.UNOFFICIAL')
    }
    // clamd replies and closes while bytes are on their way, so that the reply can be lost.
    const large = await putFile(admin, path, randomBytes(4 * MIB))
    assert.ok([413, 503].includes(large.status), large.text)
    assert.equal((await admin.get(path)).bytes.length, 2 * MIB)
    await service.close()

    const { stdout } = await stowage(service.folder, ['doctor', '--set', `service.data.virus-scan=${place}`])
    assert.match(stdout, /^virus scan: ClamAV \d.* at \S+$/m)
    // It has no signature but our own.
    assert.match(stdout, /^warning: virus scan: clamd does not recognise the EICAR test file$/m)
  }
})

test('while real clamd is gone uploads are refused or stored, as the settings say; one that hangs is given up (D32.1)', async t => {
  if (!requirePeer(t, clamav)) return
  const clamd = await startClamd(t, '2M')
  const common = { 'service.data.virus-scan': clamd.places[0] }
  const closed = await startInProcess(t, { settings: common })
  const open = await startInProcess(t, { settings: { ...common, 'service.data.virus-scan.failure': 'store' } })
  const upload = async (service: typeof open, text: string) => {
    service.system.pass(6000)
    const admin = await service.admin()
    const headers = { 'content-type': 'text/plain' }
    return await admin.ask(`${await newContext(admin)}?file`, { method: 'POST', body: text, headers })
  }
  clamd.freeze()
  const [, path] = clamd.places
  await assert.rejects(new Clamd({ address: { path }, timeout: 200 }).version(), { isTimeout: true })
  clamd.thaw()
  await clamd.kill()
  assertRefused(await upload(closed, 'text'), 503, 'scan-unavailable')
  assert.equal((await upload(open, INFECTED)).status, 201)
})
