import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, afterEach, test } from 'node:test'
import { archiveOf, exportOf, importInto, membersOf } from '../support/archives.ts'
import { sql } from '../../src/stores/sql.ts'
import { blobsOf } from '../support/blobs.ts'
import { stowage } from '../support/cli.ts'
import { assertRefused, readEntry } from '../support/content.ts'
import { EICAR, startFakeClamd } from '../support/fake-clamd.ts'
import { sendRaw } from '../support/raw-request.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'
import { openDatabaseOf } from '../support/store.ts'
import {
  createUpload,
  headOf,
  joinParts,
  NEW_ENTRY,
  newUpload,
  PART,
  PIECE,
  sendBytes,
  TUS,
  uploadPath,
} from '../support/tus.ts'
import { putChunked, putFile, putForm } from '../support/uploads.ts'
import { eventually } from '../support/waiting.ts'

const clamd = await startFakeClamd({ after })
const settings = {
  'service.data.quota': 'on',
  'service.data.virus-scan': clamd.place,
  'service.data.virus-scan.max-size': '100k',
}
const service = await startInProcess({ after }, { settings })
const admin = await service.admin()
/** Longer than the pause after an outage. */
const recover = (): void => service.system.pass(6000)
const levelOf = async (context: string): Promise<unknown> => (await admin.get(`${context}/quota`)).json()['fillLevel']
const eventsOf = async (limit: number) =>
  (await admin.get(`management/audit?event=virus-found&limit=${limit}`)).json<{
    events: Array<{ actorId?: string; address?: string; detail: Record<string, unknown> }>
  }>().events
const metric = async (result: string): Promise<number> => {
  const { text } = await admin.get('management/metrics')
  return Number(new RegExp(`^stowage_virus_scans_total\\{result="${result}"\\} (\\d+)$`, 'm').exec(text)?.[1])
}

afterEach(() => {
  clamd.misbehave = undefined
  clamd.maxLength = Number.POSITIVE_INFINITY
})

test('a file with a virus is refused however it comes, leaves nothing, and is in the audit log (D32.1)', async () => {
  const context = await newContext(admin)
  const id = await newEntry(admin, context)
  const path = `${context}/resource/${id}`
  assert.equal((await putFile(admin, path, 'before')).status, 201)
  const entry = await readEntry(admin, context, id)
  const blobs = await blobsOf(service)
  const infected = `before ${EICAR} after`
  service.system.pass(2000)
  const ways = [
    () => putFile(admin, path, infected),
    () => putChunked(admin, path, [infected.slice(0, 40), infected.slice(40)]),
    () => putForm(admin, path, [{ name: '0', fileName: 'a', content: infected }]),
    () =>
      admin.ask(`${path}?method=put`, { method: 'POST', body: infected, headers: { 'content-type': 'text/plain' } }),
    () =>
      admin.ask(`${context}?file&id=new`, {
        method: 'POST',
        body: infected,
        headers: { 'content-type': 'text/plain' },
      }),
  ]
  for (const send of ways) {
    const refused = await send()
    assertRefused(refused, 400, 'virus-found')
    assert.equal(refused.json()['signature'], 'Eicar-Test-Signature')
    assert.deepEqual(await blobsOf(service), blobs)
    assert.equal(await levelOf(context), 6)
  }
  assert.equal((await admin.get(path)).text, 'before')
  assert.deepEqual(await readEntry(admin, context, id), entry)
  assertRefused(await admin.get(`${context}/entry/new`), 404, 'not-found')
  const events = await eventsOf(ways.length)
  assert.equal(events.length, ways.length)
  for (const { detail, actorId, address } of events) {
    assert.equal(actorId, '_admin')
    assert.equal(address, '127.0.0.1')
    assert.deepEqual([detail['context'], detail['signature']], [context, 'Eicar-Test-Signature'])
    assert.deepEqual([detail['size'], String(detail['sha256']).length], [infected.length, 64])
  }
  assert.equal(events.at(-1)?.detail['entry'], id)
  assert.equal(await metric('infected'), ways.length)
})

test('a resumable upload with a virus is refused, whether it comes whole, in pieces or in parts, and leaves nothing (D32.1, D42.5)', async () => {
  const context = await newContext(admin)
  const [blobs, level] = [await blobsOf(service), await levelOf(context)]
  const infected = `before ${EICAR} after`
  const length = { 'upload-length': String(infected.length) }
  const ways = [
    async (entry: string) =>
      await createUpload(admin, entry, {
        ...length,
        ...NEW_ENTRY,
        'content-type': PIECE['content-type'],
        body: infected,
      }),
    async (entry: string) => {
      const path = await newUpload(admin, entry, infected.length, NEW_ENTRY)
      await sendBytes(admin, path, 0, infected.slice(0, 40))
      const refused = await sendBytes(admin, path, 40, infected.slice(40))
      assert.equal((await headOf(admin, path)).status, 404)
      return refused
    },
    async (entry: string) => {
      const parts: string[] = []
      for (const text of [infected.slice(0, 40), infected.slice(40)]) {
        const part = await newUpload(admin, entry, text.length, PART)
        assert.equal((await sendBytes(admin, part, 0, text)).status, 204)
        parts.push(part)
      }
      return await joinParts(admin, entry, parts)
    },
  ]
  for (const send of ways) {
    const refused = await send(`${context}/${await newEntry(admin, context)}`)
    assertRefused(refused, 400, 'virus-found')
    assert.equal(refused.json()['signature'], 'Eicar-Test-Signature')
    assert.deepEqual([await blobsOf(service), await levelOf(context)], [blobs, level])
  }
})

test('each file of an import is scanned; one with a virus refuses all of it (D32.1)', async () => {
  const context = await newContext(admin)
  for (const id of ['a', 'b']) {
    await newEntry(admin, context, `?id=${id}`)
    assert.equal((await putFile(admin, `${context}/resource/${id}`, `text of ${id}`.padEnd(EICAR.length))).status, 201)
  }
  const archive = await exportOf(admin, context)
  const members = await membersOf(archive)
  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
  const bad = await archiveOf(
    members.map(member =>
      member.name === 'files/b'
        ? { ...member, bytes: Buffer.from(EICAR) }
        : {
            ...member,
            bytes: Buffer.from(
              member.bytes.toString('latin1').replaceAll(sha256('text of b'.padEnd(EICAR.length)), sha256(EICAR)),
              'latin1',
            ),
          },
    ),
  )
  const blobs = await blobsOf(service)
  assertRefused(await importInto(admin, context, bad), 400, 'virus-found')
  assert.deepEqual(await blobsOf(service), blobs)
  assert.equal((await admin.get(`${context}/resource/b`)).text.trim(), 'text of b')
  const before = clamd.scanned.length
  assert.equal((await importInto(admin, context, archive)).status, 200)
  assert.deepEqual(
    clamd.scanned.slice(before).map(bytes => bytes.toString().trim()),
    ['text of a', 'text of b'],
  )
})

test('files too large for the scanner are refused, or stored where the settings say so (D32.1)', async t => {
  const context = await newContext(admin)
  const path = `${context}/resource/${await newEntry(admin, context)}`
  assert.equal((await putFile(admin, path, 'x'.repeat(102_400))).status, 201)
  const before = clamd.begun()
  const refused = await putFile(admin, path, 'x'.repeat(102_401))
  assertRefused(refused, 413, 'too-large-to-scan')
  assert.deepEqual([refused.json()['limit'], clamd.begun()], [102_400, before], 'it is not even sent')
  const [large, entry] = [await metric('too-large'), path.replace('/resource/', '/')]
  assertRefused(await createUpload(admin, entry, { 'upload-length': '102401' }), 413, 'too-large-to-scan')
  const head = [`PUT /${path} HTTP/1.1`, `Cookie: auth_token=${admin.cookie}`, 'Content-Length: 102401']
  const waiting = await sendRaw(service.base, [...head, 'Expect: 100-continue', 'Connection: close'])
  await waiting.closed
  assert.match(waiting.received(), /^HTTP\/1\.1 413 [^]*"too-large-to-scan"/, 'no byte of it is asked for')
  assert.equal((await metric('too-large')) - large, 2)
  const whole = await createUpload(admin, entry, { 'upload-length': '102400' })
  assert.equal((await admin.ask(uploadPath(admin, whole), { method: 'DELETE', headers: TUS })).status, 204)
  const lenient = await startInProcess(t, {
    settings: { ...settings, 'service.data.virus-scan.failure': 'store' },
  })
  const visitor = await lenient.admin()
  const place = `${await newContext(visitor)}?file`
  const post = (body: string) => visitor.ask(place, { method: 'POST', body, headers: { 'content-type': 'text/plain' } })
  assert.equal((await post('x'.repeat(102_401))).status, 201)
  assertRefused(await post(EICAR), 400, 'virus-found')
})

test('an import with a file too large for the scanner is refused before any file is scanned, and changes nothing (D32.1)', async t => {
  const without = await startInProcess(t, { settings: { 'service.data.quota': 'on' } })
  const other = await without.admin()
  const source = await newContext(other)
  for (const [id, size] of [
    ['a', 10],
    ['b', 102_401],
  ] as const) {
    await newEntry(other, source, `?id=${id}`)
    assert.equal((await putFile(other, `${source}/resource/${id}`, 'x'.repeat(size))).status, 201)
  }
  const archive = await exportOf(other, source)
  const context = await newContext(admin)
  const path = `${context}/resource/${await newEntry(admin, context)}`
  assert.equal((await putFile(admin, path, 'before')).status, 201)
  const [blobs, scans] = [await blobsOf(service), clamd.begun()]
  const refused = await importInto(admin, context, archive)
  assertRefused(refused, 413, 'too-large-to-scan')
  assert.deepEqual([refused.json()['limit'], clamd.begun()], [102_400, scans])
  assert.deepEqual(await blobsOf(service), blobs)
  assert.deepEqual([(await admin.get(path)).text, await levelOf(context)], ['before', 6])
  assert.equal((await other.delete(`${source}/entry/b`)).status, 204)
  assert.equal((await importInto(admin, context, await exportOf(other, source))).status, 200)
})

test('while clamd fails uploads are refused, or stored where the settings say so; then they work again (D32.1)', async t => {
  const open = await startInProcess(t, { settings: { ...settings, 'service.data.virus-scan.failure': 'store' } })
  const visitor = await open.admin()
  const place = `${await newContext(visitor)}?file`
  const post = (body: string) => visitor.ask(place, { method: 'POST', body, headers: { 'content-type': 'text/plain' } })
  const context = await newContext(admin)
  const path = `${context}/resource/${await newEntry(admin, context)}`
  const refused = async (): Promise<void> => {
    const answer = await putFile(admin, path, 'text')
    assertRefused(answer, 503, 'scan-unavailable')
    assert.match(String(answer.headers['retry-after']), /^\d+$/)
    assert.equal(await levelOf(context), 0)
  }
  for (const reply of ['stream: cannot read ERROR\0', 'nonsense\0']) {
    clamd.misbehave = socket => socket.end(reply)
    await refused()
    assert.equal((await post('text')).status, 201)
  }
  await clamd.kill()
  await refused()
  assert.equal((await post('text')).status, 201)
  await clamd.revive()
  clamd.misbehave = undefined
  recover()
  open.system.pass(6000)
  assert.equal((await putFile(admin, path, 'text')).status, 201)
  assertRefused(await post(EICAR), 400, 'virus-found')
})

test('a slow scan delays nothing but uploads; a client that leaves meanwhile leaves nothing (D32.1)', async () => {
  const context = await newContext(admin)
  const path = `${context}/resource/${await newEntry(admin, context)}`
  const waiting: Array<() => void> = []
  clamd.misbehave = socket => void waiting.push(() => socket.end('stream: OK\0'))
  const head = [
    `PUT ${new URL(admin.base + path).pathname} HTTP/1.1`,
    `Cookie: auth_token=${admin.cookie}`,
    'Content-Type: text/plain',
    'Content-Length: 4',
  ]
  const leaver = await sendRaw(admin.base, head, Buffer.from('gone'))
  await eventually('the scan has begun', () => waiting.length === 1)
  const other = await newUser(service, admin)
  assert.equal((await other.visitor.get('auth/user')).status, 200)
  leaver.socket.destroy()
  await eventually('the connection to clamd is closed', () => clamd.connections() === 0)
  await eventually('nothing is left', async () => (await blobsOf(service)).incoming.length === 0)
  const upload = putFile(admin, path, 'text')
  await eventually('the next scan has begun', () => waiting.length === 2)
  assert.equal((await admin.get(path)).status, 204, 'there is no file yet')
  waiting[1]?.()
  assert.equal((await upload).status, 201)
  assert.equal((await admin.get(path)).text, 'text')
})

test('at most four files are scanned at once (D32.1)', async () => {
  const context = await newContext(admin)
  const entries: string[] = []
  for (let count = 0; count < 7; count++) entries.push(await newEntry(admin, context))
  const scans: Array<() => void> = []
  clamd.misbehave = socket => void scans.push(() => socket.end('stream: OK\0'))
  const countBlobs = async (): Promise<number> => Object.values(await blobsOf(service)).flat().length
  const before = await countBlobs()
  const uploads = entries.map(entry => putFile(admin, `${context}/resource/${entry}`, 'text'))
  await eventually('all files wait', async () => (await countBlobs()) === before + entries.length)
  for (let scanned = 0; scanned < entries.length; scanned++) {
    const begun = Math.min(scanned + 4, entries.length)
    await eventually('the next scan has begun', () => scans.length >= begun)
    assert.equal(scans.length, begun)
    scans[scanned]?.()
  }
  assert.deepEqual(new Set((await Promise.all(uploads)).map(({ status }) => status)), new Set([201]))
})

test('doctor asks clamd for its version and has the test file scanned (D32.1)', async () => {
  const examine = async (...more: string[]) => {
    const all = { 'service.data.folder': service.folder, 'service.data.virus-scan': clamd.place }
    const sets = [...Object.entries(all).map(([key, value]) => `${key}=${value}`), ...more]
    return await stowage(service.folder, ['doctor', ...sets.flatMap(one => ['--set', one])])
  }
  const line = `virus scan: ClamAV 1.4.3/1/Sat Nov 21 10:00:00 2026 at ${clamd.place}\n`
  const { stdout } = await examine()
  assert.ok(stdout.includes(`\n${line}`), stdout)
  clamd.misbehave = socket => socket.end('stream: OK\0')
  assert.match((await examine()).stdout, /^warning: virus scan: clamd does not recognise the EICAR test file$/m)
  await clamd.kill()
  try {
    const failed = await examine()
    assert.equal(failed.status, 1)
    assert.match(failed.stdout, /^problem: virus scan: clamd at 127\.0\.0\.1:\d+: .+; uploads are rejected$/m)
    assert.match((await examine('service.data.virus-scan.failure=store')).stdout, /^warning: virus scan: clamd at /m)
  } finally {
    await clamd.revive()
  }
})

test('a resumable upload whose scan fails is no success; it takes its place when its client asks again (D32.1, D42.2)', async t => {
  const context = await newContext(admin)
  const id = await newEntry(admin, context)
  const version = { 'tus-resumable': '1.0.0' }
  const begun = await admin.ask(`${context}/uploads/${id}`, {
    method: 'POST',
    headers: { ...version, 'upload-length': '5' },
  })
  const path = String(begun.headers['location']).slice(service.base.length)
  await clamd.kill()
  const pieces = { ...version, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' }
  assertRefused(await admin.ask(path, { method: 'PATCH', body: 'bytes', headers: pieces }), 503, 'scan-unavailable')
  assert.equal((await admin.ask(path, { method: 'HEAD', headers: version })).status, 503)
  const database = await openDatabaseOf(service.folder)
  t.after(() => database.close())
  await database.run(sql`UPDATE resumable_uploads SET claim = 'other node', claimed = ${Number.MAX_SAFE_INTEGER / 2}`)
  assert.equal((await admin.ask(path, { method: 'HEAD', headers: version })).status, 423)
  await database.run(sql`UPDATE resumable_uploads SET claim = NULL`)
  await clamd.revive()
  recover()
  const asked = await admin.ask(path, { method: 'HEAD', headers: version })
  assert.deepEqual([asked.status, asked.headers['upload-offset']], [200, '5'])
  assert.equal((await admin.get(`${context}/resource/${id}`)).text, 'bytes')
  assert.equal(await levelOf(context), 5)
})
