import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, before, type TestContext, test } from 'node:test'
import { stowage } from '../support/cli.ts'
import type { Answer, Visitor } from '../support/http-client.ts'
import { cephGateway } from '../support/peers/ceph-gateway.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { sendRaw } from '../support/raw-request.ts'
import { useGateway } from '../support/s3.ts'
import { newContext, newEntry, type Process, startProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { putFile } from '../support/uploads.ts'
import { eventually } from '../support/waiting.ts'

const MIB = 2 ** 20

if (!cephGateway.available()) test('files in a bucket while its server fails', t => void requirePeer(t, cephGateway))
else {
  const gateway = useGateway(before, after)
  let places = 0

  const start = async (t: TestContext) => {
    const place = `s3://${gateway().bucket}/outage-${++places}`
    const settings = { 'service.data.quota': 'on', 'service.data.store': place }
    const folder = await temporaryFolder()
    const service = await startProcess(t, { settings, folder })
    const admin = await service.admin()
    const context = await newContext(admin)
    return { settings, service, admin, context }
  }
  const stopAndProve = async (service: Process, settings: Record<string, string>): Promise<string> => {
    assert.equal(await service.stop(), 0, service.output())
    const all = { 'service.data.folder': service.folder, ...settings }
    const args = Object.entries(all).flatMap(([key, value]) => ['--set', `${key}=${value}`])
    const { status, stdout, stderr } = await stowage(service.folder, ['fsck', ...args], gateway().env)
    assert.equal(status, 0, stdout + stderr)
    return stdout
  }
  const refusedForNow = (answer: Answer): void => {
    assert.equal(answer.status, 503, answer.text)
    assert.equal(answer.json()['code'], 'store-unavailable')
    assert.match(String(answer.headers['retry-after']), /^\d+$/)
  }
  const levelOf = async (admin: Visitor, context: string) => (await admin.get(`${context}/quota`)).json()['fillLevel']

  test('a server that hangs during an upload causes 503 with Retry-After; the old file, the fill level and the free space stay unchanged (D7.9)', async t => {
    const { settings, service, admin, context } = await start(t)
    await admin.put(`${context}/quota`, { quota: 40 * MIB })
    const path = `${context}/resource/${await newEntry(admin, context)}`
    assert.equal((await putFile(admin, path, 'before')).status, 201)
    const head = [
      `PUT /${path} HTTP/1.1`,
      `Cookie: auth_token=${admin.cookie}`,
      'Content-Type: text/plain',
      `Content-Length: ${30 * MIB}`,
    ]
    const request = await sendRaw(service.base, head, randomBytes(10 * MIB))
    gateway().freeze()
    request.socket.write(randomBytes(20 * MIB))
    await request.until(/"code":"store-unavailable"/)
    assert.match(request.received(), /^HTTP\/1\.1 503 /)
    assert.match(request.received(), /^retry-after: \d+\r$/im)
    assert.equal(await levelOf(admin, context), 6)
    gateway().thaw()
    assert.equal((await admin.get(path)).text, 'before')
    const whole = randomBytes(40 * MIB)
    assert.equal((await putFile(admin, path, whole)).status, 201, 'no room is held any more')
    assert.ok((await admin.get(path)).bytes.equals(whole))
    assert.equal(await levelOf(admin, context), 40 * MIB)
    assert.match(await stopAndProve(service, settings), /0 findings/)
  })

  test('while the server is down, requests for files get 503 and others work; it is used again without a restart', async t => {
    const { settings, service, admin, context } = await start(t)
    const id = await newEntry(admin, context)
    const path = `${context}/resource/${id}`
    assert.equal((await putFile(admin, path, 'bytes')).status, 201)
    await gateway().kill()
    refusedForNow(await admin.get(path))
    refusedForNow(await putFile(admin, path, 'others'))
    assert.equal((await admin.get(`${context}/entry/${id}`)).status, 200)
    assert.equal((await newEntry(admin, context)) === id, false)
    assert.equal(await levelOf(admin, context), 5)
    await gateway().start()
    assert.equal((await admin.get(path)).text, 'bytes')
    assert.equal((await putFile(admin, path, 'others')).status, 201)
    assert.match(await stopAndProve(service, settings), /^1 file, 6 bytes checked; 0 findings/m)
  })

  test('after repeated kills of the server under load, every acknowledged file is kept and the fill level is exact', async t => {
    const { settings, service, admin, context } = await start(t)
    const acknowledged = new Map<string, string>()
    let [uploads, refused] = [0, 0]
    const load = new AbortController()
    const upload = async (): Promise<void> => {
      const path = `${context}/resource/${await newEntry(admin, context)}`
      while (!load.signal.aborted) {
        const bytes = randomBytes(1 + Math.floor(Math.random() * 12 * MIB))
        const answer = await putFile(admin, path, bytes).catch(requireCutOff)
        if (answer?.status === 201) {
          acknowledged.set(path, `${bytes.length} ${sha256(bytes)}`)
          uploads++
        } else {
          if (answer) assert.equal(answer.status, 503, answer.text)
          refused++
        }
      }
    }
    const uploading = Promise.all(Array.from({ length: 4 }, upload))
    for (let round = 0; round < 5; round++) {
      const [done, before] = [uploads, refused]
      await eventually('uploads go on', () => uploads >= done + 4)
      await gateway().kill()
      await eventually('uploads are refused', () => refused > before)
      await gateway().start()
    }
    load.abort()
    await uploading
    let sum = 0
    for (const [path, expected] of acknowledged) {
      const { bytes } = await admin.get(path)
      assert.equal(`${bytes.length} ${sha256(bytes)}`, expected)
      sum += bytes.length
    }
    assert.equal(await levelOf(admin, context), sum)
    assert.match(await stopAndProve(service, settings), /^4 files, \d+ bytes checked/m)
  })
}

/** A refused upload is read on for 8 MiB only; a client that sends more may find the connection closed before the response. */
function requireCutOff(error: NodeJS.ErrnoException): undefined {
  assert.match(error.code ?? '', /^(?:EPIPE|ECONNRESET)$/, error.message)
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
