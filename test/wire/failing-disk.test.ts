import assert from 'node:assert/strict'
import { mkdir, readdir, rename, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { stowage } from '../support/cli.ts'
import type { Answer, Visitor } from '../support/http-client.ts'
import { newContext, newEntry, type Process, startProcess } from '../support/service.ts'
import { type FailingDisk, failingDisk } from '../support/small-disk.ts'
import { onPostgres } from '../support/store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { putFile } from '../support/uploads.ts'
import { eventually } from '../support/waiting.ts'

interface Place {
  readonly disk: FailingDisk
  readonly service: Process
  readonly admin: Visitor
  readonly context: string
  /** Of an entry with the file `before`. */
  readonly entry: string
}

async function serviceOnDisk(t: TestContext): Promise<Place | undefined> {
  const disk = await failingDisk(t)
  if (!disk) return undefined
  const settings = { 'service.data.store': 'folder', 'service.auth.token.store': 'memory' }
  const service = await startProcess(t, { folder: disk.folder, settings })
  const admin = await service.admin()
  const context = await newContext(admin)
  const entry = await newEntry(admin, context)
  assert.equal((await putFile(admin, `${context}/resource/${entry}`, 'before')).status, 201)
  return { disk, service, admin, context, entry }
}

/** The codes of docs/how-to/troubleshooting.md. */
const refused = ({ status, text, headers }: Answer): void => {
  assert.equal(status, 503, text)
  assert.match(text, /"code":"(storage-read-only|store-unavailable)"/)
  assert.match(String(headers['retry-after']), /^\d+$/)
}

const readiness = async (service: Process): Promise<number> => (await service.visitor().get('management/ready')).status

test('on a file system that the kernel has made read-only, changes are 503, reading goes on, and the service is not ready (D20.4)', async t => {
  const place = await serviceOnDisk(t)
  if (!place) return
  const { disk, service, admin, context, entry } = place
  assert.equal(await readiness(service), 200)
  disk.makeReadOnly()
  assert.equal(await readiness(service), 503, 'before anything was written')
  refused(await putFile(admin, `${context}/resource/${entry}`, 'after'))
  if (!onPostgres) {
    refused(await admin.post(`${context}?graphtype=none`))
    refused(await admin.delete(`${context}/entry/${entry}`))
  }
  assert.equal((await admin.get(`${context}/resource/${entry}`)).text, 'before')
  assert.equal(await readiness(service), 503)
  await service.stop()
  assert.doesNotMatch(service.output(), /internal-error|uncaught|^ {4}at /im)
})

test('on a file system that fails, changes are 503, nothing is called damaged, and the service is not ready (D20.4)', async t => {
  const place = await serviceOnDisk(t)
  if (!place) return
  const { disk, service, admin, context, entry } = place
  try {
    disk.breakDown()
  } catch {
    return t.skip('xfs_io is not installed')
  }
  await eventually('it is not ready', async () => (await readiness(service)) === 503)
  refused(await putFile(admin, `${context}/resource/${entry}`, 'after'))
  if (!onPostgres) refused(await admin.post(`${context}?graphtype=none`))
  const read = await admin.get(`${context}/resource/${entry}`)
  assert.equal(read.status, 503, read.text)
  assert.match(read.text, /"code":"store-unavailable"/)
  await service.stop()
  assert.doesNotMatch(service.output(), /store-damaged|internal-error|uncaught|^ {4}at /im)
  return undefined
})

test('a file that the disk cannot read is 503, and the service goes on (D20.4)', {
  skip: process.platform !== 'linux',
}, async t => {
  const settings = { 'service.data.store': 'folder', 'service.auth.token.store': 'memory' }
  const service = await startProcess(t, { settings })
  const admin = await service.admin()
  const context = await newContext(admin)
  const entry = await newEntry(admin, context)
  assert.equal((await putFile(admin, `${context}/resource/${entry}`, 'content')).status, 201)
  const files = join(service.folder, 'files')
  const [blob] = (await readdir(files, { recursive: true })).filter(name => /[0-9a-f]{40}$/.test(name))
  assert.ok(blob)
  await rename(join(files, blob), join(files, 'aside'))
  // Reading the beginning of its memory gives every process EIO.
  const damage = (): Promise<void> => symlink('/proc/self/mem', join(files, blob))
  await damage()
  const refusal = await admin.get(`${context}/resource/${entry}`)
  refused(refusal)
  assert.equal(refusal.headers['content-type'], 'application/problem+json; charset=utf-8')
  await rename(join(files, 'aside'), join(files, blob))
  assert.equal((await admin.get(`${context}/resource/${entry}`)).text, 'content')
  await service.stop()
  await rm(join(files, blob))
  await damage()
  const { status, stdout } = await stowage(service.folder, ['fsck', '--set', `service.data.folder=${service.folder}`])
  assert.equal(status, 1)
  assert.match(stdout, new RegExp(`file ${context}/${entry} .*: the disk cannot read the bytes`))
})

for (const change of ['is gone', 'is replaced by another one'] as const) {
  test(`when the data folder ${change}, changes are 503 and the service is not ready (D20.4)`, async t => {
    const parent = await temporaryFolder()
    const folder = join(parent, 'data')
    await mkdir(folder)
    const settings = { 'service.data.store': 'folder', 'service.auth.token.store': 'memory' }
    const service = await startProcess(t, { folder, settings })
    const admin = await service.admin()
    const context = await newContext(admin)
    const entry = await newEntry(admin, context)
    assert.equal(await readiness(service), 200)
    await rename(folder, join(parent, 'elsewhere'))
    if (change === 'is replaced by another one') await mkdir(folder)
    assert.equal(await readiness(service), 503, 'before anything was written')
    refused(await putFile(admin, `${context}/resource/${entry}`, 'after'))
    if (!onPostgres) refused(await admin.post(`${context}?graphtype=none`))
    await rm(folder, { recursive: true, force: true })
    await rename(join(parent, 'elsewhere'), folder)
    await service.stop()
  })
}
