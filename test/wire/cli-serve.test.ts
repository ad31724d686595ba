import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { blobsOf } from '../support/blobs.ts'
import { readEntry } from '../support/content.ts'
import { stowage } from '../support/cli.ts'
import { sendRaw } from '../support/raw-request.ts'
import { ADMIN_PASSWORD, newContext, newEntry, startProcess } from '../support/service.ts'
import { onPostgres } from '../support/store.ts'
import { putFile } from '../support/uploads.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { eventually } from '../support/waiting.ts'

const withExclusiveLock = { skip: onPostgres && 'nodes share a folder there' }

test('a second service on one folder is refused, names the first, and leaves it alone', withExclusiveLock, async t => {
  const first = await startProcess(t)
  for (const command of ['serve', 'fsck']) {
    const port = command === 'serve' ? ['--set', 'service.http.port=0'] : []
    const second = await stowage(first.folder, [command, '--set', `service.data.folder=${first.folder}`, ...port])
    assert.equal(second.status, 1, command)
    assert.match(second.stderr, new RegExp(`in use by another Stowage process \\(pid ${first.pid}\\)`))
  }
  assert.equal((await first.visitor().get('management/status')).status, 200)
})

for (const signal of ['SIGTERM', 'SIGINT'] as const)
  test(`on ${signal} an upload in progress finishes, new requests are refused, and the process exits with 0 (D20.6)`, async t => {
    const service = await startProcess(t)
    const admin = await service.admin()
    const context = await newContext(admin)
    const id = await newEntry(admin, context)
    const head = [`PUT /${context}/resource/${id} HTTP/1.1`, `Cookie: auth_token=${admin.cookie}`, 'Content-Length: 10']
    const upload = await sendRaw(admin.base, head, 'first')
    await eventually('the upload has begun', async () => (await blobsOf(service)).incoming.length === 1)
    const stopped = service.stop(signal)
    await eventually('new connections are refused', () =>
      service
        .visitor()
        .get('management/status')
        .then(
          () => false,
          () => true,
        ),
    )
    upload.socket.write('-last')
    await upload.until(/^HTTP\/1\.1 201 /)
    assert.equal(await stopped, 0)
    const again = await startProcess(t, { folder: service.folder })
    assert.equal((await (await again.admin()).get(`${context}/resource/${id}`)).text, 'first-last')
  })

test('SERVICE_ADMIN_PASSWORD is ignored once admin has a password (D5.5)', async t => {
  const first = await startProcess(t, { env: { SERVICE_ADMIN_PASSWORD: 'eightchr' } })
  assert.equal((await first.visitor().signIn('admin', 'eightchr')).status, 200)
  assert.equal(await first.stop(), 0)
  const second = await startProcess(t, { folder: first.folder, env: { SERVICE_ADMIN_PASSWORD: 'another-password' } })
  assert.equal((await second.visitor().signIn('admin', 'another-password')).status, 401)
  assert.equal((await second.visitor().signIn('admin', 'eightchr')).status, 200)
  assert.equal(await second.stop(), 0)
  // Too short for a first password, but admin has one.
  const third = await startProcess(t, { folder: first.folder, env: { SERVICE_ADMIN_PASSWORD: 'short' } })
  assert.equal((await third.visitor().signIn('admin', 'eightchr')).status, 200)
})

test('settings and the first password come from the environment and from files that it names', async t => {
  const secrets = await temporaryFolder()
  await writeFile(join(secrets, 'admin'), 'from-a-file-1\n')
  await writeFile(join(secrets, 'metrics'), 'scrape-with-this\n')
  const service = await startProcess(t, {
    env: {
      SERVICE_ADMIN_PASSWORD: '',
      SERVICE_ADMIN_PASSWORD_FILE: join(secrets, 'admin'),
      SERVICE_METRICS_TOKEN_FILE: join(secrets, 'metrics'),
      SERVICE_DATA_QUOTA: 'on',
      SERVICE_DATA_QUOTA_DEFAULT: '5',
    },
  })
  const admin = service.visitor()
  assert.equal((await admin.signIn('admin', 'from-a-file-1')).status, 200)
  const context = await newContext(admin)
  const path = `${context}/resource/${await newEntry(admin, context)}`
  assert.equal((await putFile(admin, path, 'more than five')).status, 413)
  const scrape = (token: string): Promise<Response> =>
    fetch(`${admin.base}management/metrics`, { headers: { authorization: `Bearer ${token}` } })
  assert.equal((await scrape('scrape-with-this')).status, 200)
  assert.equal((await scrape('another')).status, 401)
})

test('without a password admin cannot sign in, and the start prints how to set one (D5.5)', async t => {
  const service = await startProcess(t, { env: { SERVICE_ADMIN_PASSWORD: '' } })
  for (const password of ['admin', ADMIN_PASSWORD])
    assert.equal((await service.visitor().signIn('admin', password)).status, 401)
  await service.prints(/admin has no password yet/)
})

test('adminpw wins while it is set, obeys no rules, and is forgotten afterwards (D5.6)', async t => {
  const first = await startProcess(t, { settings: { 'service.auth.adminpw': 'adminadmin' } })
  assert.equal((await first.visitor().signIn('admin', 'adminadmin')).status, 200)
  assert.equal((await first.visitor().signIn('admin', ADMIN_PASSWORD)).status, 401)
  await first.prints(/service\.auth\.adminpw/)
  assert.ok(!first.output().includes('adminadmin'))
  assert.equal(await first.stop(), 0)
  const second = await startProcess(t, { folder: first.folder })
  assert.equal((await second.visitor().signIn('admin', 'adminadmin')).status, 401)
  assert.equal((await second.visitor().signIn('admin', ADMIN_PASSWORD)).status, 200)
})

test('logins are lost with a restart, contents are not (I2.1)', async t => {
  const settings = { 'service.auth.token.store': 'memory' }
  const first = await startProcess(t, { settings })
  const admin = await first.admin()
  const context = await newContext(admin)
  const id = await newEntry(admin, context)
  await putFile(admin, `${context}/resource/${id}`, 'kept')
  const { metadata, resource } = await readEntry(admin, context, id)
  assert.equal(await first.stop('SIGINT'), 0)
  const second = await startProcess(t, { folder: first.folder, settings })
  const visitor = second.visitor()
  visitor.cookie = admin.cookie
  assert.equal((await visitor.get('auth/user')).json()['id'], '_guest')
  const later = await readEntry(await second.admin(), context, id)
  assert.deepEqual([later.metadata, later.resource], [metadata, resource])
})
