import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { realSystem, type System } from '../../src/base/system.ts'
import { areBlobsHeld, holdBlobs } from '../../src/files/garbage.ts'
import { Ledger, RESERVATION_TTL } from '../../src/files/quota-ledger.ts'
import { openPostgresDatabase } from '../../src/stores/postgres/postgres-database.ts'
import { sql } from '../../src/stores/sql.ts'
import { stowage } from '../support/cli.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { postgres, postgresDatabase } from '../support/peers/postgres.ts'
import { sendRaw } from '../support/raw-request.ts'
import { type InProcess, newContext, newEntry, newUser, startInProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { blobArgs, blobSettings } from '../support/blobs.ts'
import { tokenSettings } from '../support/token-store.ts'
import { putFile } from '../support/uploads.ts'
import { eventually } from '../support/waiting.ts'
import { quotas } from '../support/quota.ts'

interface Cluster {
  readonly folder: string
  readonly url: string
  readonly settings: Readonly<Record<string, string>>
  /** One more node. */
  readonly start: () => Promise<InProcess>
}

async function newCluster(t: { after(work: () => Promise<void>): void }): Promise<Cluster> {
  const folder = await temporaryFolder()
  const url = await postgresDatabase()
  const settings = {
    'service.repository.store.url': url,
    'service.data.quota': 'on',
    'service.http.body.idle-timeout': '10m',
  }
  return { folder, url, settings, start: () => startInProcess(t, { folder, settings }) }
}

test('three nodes that start at once on an empty store make it once, and each serves what the others write', async t => {
  if (!requirePeer(t, postgres)) return
  const { start } = await newCluster(t)
  const nodes = await Promise.all([start(), start(), start()])
  const admins = await Promise.all(nodes.map(node => node.admin()))
  const [one, other, third] = admins
  assert.ok(one && other && third)
  const context = await newContext(one)
  const id = await newEntry(other, context, '', {
    metadata: { 'x:new': { 'http://purl.org/dc/terms/title': [{ type: 'literal', value: 'numbat' }] } },
  })
  assert.equal((await putFile(third, `${context}/resource/${id}`, 'bytes')).status, 201)
  for (const admin of admins) {
    assert.equal((await admin.get(`${context}/resource/${id}`)).text, 'bytes')
    assert.equal((await admin.get(`${context}/entry/${id}`)).status, 200)
  }
})

test('a user whose password one node changes has no session on another any more (D5.3)', async t => {
  if (!requirePeer(t, postgres)) return
  const { start } = await newCluster(t)
  const [one, other] = [await start(), await start()]
  const { id, name, password } = await newUser(one, await one.admin())
  const visitor = other.visitor()
  assert.equal((await visitor.signIn(name, password)).status, 200)
  const changed = await (await one.admin()).put(`_principals/resource/${id}`, { name, password: 'Other-Password-12' })
  assert.equal(changed.status, 204, changed.text)
  assert.equal((await visitor.get('auth/user')).json()['user'], 'guest')
})

test('a node that would weaken all others is refused by name at its start, and may differ in what concerns only itself (D20.7)', async t => {
  if (!requirePeer(t, postgres)) return
  const { folder, settings, start } = await newCluster(t)
  await start()
  const join = (differing: Record<string, string>) =>
    startInProcess(t, { folder, settings: { ...settings, ...differing } })
  for (const [key, value, own, other] of [
    ['service.auth.temp.lockout.max.attempts', '50', '50', '5'],
    ['service.auth.temp.lockout.duration', '1s', '1s', '5m'],
    ['service.auth.password.blacklist.1', 'anna', 'anna', 'not set'],
    ['service.auth.password.rule.min-length', '1', '1', '10'],
    ['service.auth.second-factor', 'all', 'all', 'optional'],
    ['service.trash.days', '1', '1', '30'],
    ['service.public-links', 'off', 'off', 'on'],
    ['service.repository.provenance', 'on', 'on', 'off'],
    ['service.repository.public-info', 'on', 'on', 'off'],
    ['service.audit.retention', '1d', '1d', '365d'],
  ] as const) {
    await assert.rejects(join({ [key]: value }), (error: Error) => {
      assert.ok(
        error.message.includes(`${key.replace(/\.1$/, '.<n>')} is ${own} here and ${other} there`),
        error.message,
      )
      return true
    })
  }
  const masked = { message: /service\.auth\.adminpw is \*+ here and not set there/ }
  await assert.rejects(join({ 'service.auth.adminpw': 'Hidden-Password-12' }), masked)
  await join({ 'service.http.drain-time': '1ms', 'service.solr.max-limit': '50', 'service.proxy': 'off' })
})

test('nodes whose keys of authenticator apps differ do not share a store (D20.7)', async t => {
  if (!requirePeer(t, postgres)) return
  const { settings, start } = await newCluster(t)
  await start()
  const apart = startInProcess(t, {
    folder: await temporaryFolder(),
    settings: { ...settings, 'service.auth.token.store': 'memory' },
  })
  await assert.rejects(apart, /the key of authenticator apps is [0-9a-f]{12} here and [0-9a-f]{12} there/)
})

test('parallel uploads over two nodes fill a quota exactly (D7.3)', async t => {
  if (!requirePeer(t, postgres)) return
  const { start } = await newCluster(t)
  const nodes = await Promise.all([start(), start()])
  const admins = await Promise.all(nodes.map(node => node.admin()))
  const [admin] = admins
  assert.ok(admin)
  const context = await newContext(admin)
  await admin.put(`${context}/quota`, { quota: 700 })
  const ids: string[] = []
  for (let count = 0; count < 16; count++) ids.push(await newEntry(admin, context))
  const statuses = await Promise.all(
    ids.map(async (id, at) => {
      const answer = await putFile(admins[at % 2] ?? admin, `${context}/resource/${id}`, 'x'.repeat(100))
      return answer.status
    }),
  )
  assert.deepEqual(
    statuses.sort((a, b) => a - b),
    [...Array<number>(7).fill(201), ...Array<number>(9).fill(413)],
  )
  for (const one of admins) assert.equal((await one.get(`${context}/quota`)).json()['fillLevel'], 700)
})

test('a node that starts leaves the uploads of others in peace, and ends those whose lease has run out (D7.4)', async t => {
  if (!requirePeer(t, postgres)) return
  const { folder, url, start } = await newCluster(t)
  const node = await start()
  const admin = await node.admin()
  const context = await newContext(admin)
  const id = await newEntry(admin, context)
  const database = await openPostgresDatabase(url, { system: realSystem })
  t.after(() => database.close())
  // What a node leaves that was killed: one lease that has run out, one that has not.
  const now = realSystem.now()
  for (const [blob, expires] of [
    ['a'.repeat(40), now - 1],
    ['b'.repeat(40), now + RESERVATION_TTL],
  ] as const) {
    await database.run(
      sql`INSERT INTO uploads (blob, context, reserved, expires) VALUES (${blob}, ${context}, 10, ${expires})`,
    )
    await database.run(
      sql`UPDATE quota_usage SET reserved = reserved + 10 WHERE kind = 'context' AND owner = ${context}`,
    )
  }
  const head = [`PUT /${context}/resource/${id} HTTP/1.1`, `Cookie: auth_token=${admin.cookie}`, 'Content-Length: 10']
  const upload = await sendRaw(admin.base, head, 'first')
  await eventually('the upload has begun', async () => (await database.all(sql`SELECT blob FROM uploads`)).length === 3)

  await start()
  const left = await database.all<{ blob: string }>(sql`SELECT blob FROM uploads WHERE reserved > 0 ORDER BY blob`)
  assert.equal(left.length, 2)
  assert.ok(!left.some(({ blob }) => blob.startsWith('aaaa')))
  const where = [`service.data.folder=${folder}`, `service.repository.store.url=${url}`]
  const proof = await stowage(folder, [
    'fsck',
    '--repair',
    ...where.flatMap(set => ['--set', set]),
    ...blobArgs(folder),
  ])
  assert.deepEqual([proof.status, proof.stdout], [0, '0 files, 0 bytes checked; 0 findings, 0 open.\n'], proof.stderr)
  upload.socket.write('-last')
  await upload.until(/^HTTP\/1\.1 201 /)
  assert.equal((await admin.get(`${context}/resource/${id}`)).text, 'first-last')
})

test('reservations and holds end by the clock of the database, whatever the clocks of the nodes say (D20.2)', async t => {
  if (!requirePeer(t, postgres)) return
  const { url, start } = await newCluster(t)
  const node = await start()
  const context = await newContext(await node.admin())
  // Its sweep would remove what has run out.
  await node.close()
  const database = await openPostgresDatabase(url, { system: realSystem })
  t.after(() => database.close())
  const hour = 3_600_000
  const shifted = (by: number): System => ({
    now: () => realSystem.now() + by,
    preciseNow: () => realSystem.preciseNow() + by,
    monotonic: () => realSystem.monotonic(),
    randomBytes: count => realSystem.randomBytes(count),
  })
  const ledgerAt = (system: System): Ledger => new Ledger(database, system, quotas())
  const [ahead, behind] = [shifted(hour), shifted(-hour)]

  for (const [at, system] of [ahead, behind].entries()) {
    const blob = String(at).repeat(40)
    await ledgerAt(system).reserve({ context, user: null }, blob, 10, undefined)
    const row = await database.get<{ remaining: number }>(sql`SELECT expires -
      CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS remaining FROM uploads WHERE blob = ${blob}`)
    assert.ok(row && row.remaining > 0 && row.remaining <= RESERVATION_TTL, JSON.stringify(row))
  }
  assert.deepEqual(
    await ledgerAt(ahead).abandoned(false),
    [],
    'a node whose clock is ahead leaves the uploads of others',
  )
  // Both are as if they had run out a minute ago.
  await database.run(sql`UPDATE uploads SET expires = expires - ${RESERVATION_TTL + 60_000}`)
  assert.equal((await ledgerAt(behind).abandoned(false)).length, 2)

  const hold = await holdBlobs(database, behind)
  assert.equal(await areBlobsHeld(database, ahead), true)
  await hold.require()
  await database.run(sql`UPDATE blob_holds SET expires = expires - ${2 * hour}`)
  assert.equal(await areBlobsHeld(database, behind), false)
  await assert.rejects(hold.require(), /has expired/)
  await hold.release()
})

test('the commands find the store by its address and never show the password in it', async t => {
  if (!requirePeer(t, postgres)) return
  const { folder, url, start } = await newCluster(t)
  const set = {
    'service.data.folder': folder,
    'service.repository.store.url': url,
    'service.data.quota': 'on',
    // `doctor` compares the settings of a node with those it is given.
    ...blobSettings(folder),
    ...tokenSettings(folder, {}),
  }
  const where = Object.entries(set).flatMap(([key, value]) => ['--set', `${key}=${value}`])
  const early = await stowage(folder, ['unlock', 'admin', ...where])
  assert.deepEqual([early.status, /no store/.test(early.stderr)], [1, true], early.stderr)
  await start()
  const runs = await Promise.all(
    [['unlock', 'admin'], ['fsck'], ['doctor'], ['config', 'check'], ['config', 'show', '--all']].map(args =>
      stowage(folder, [...args, ...where]),
    ),
  )
  for (const { status, stdout, stderr } of runs) {
    assert.equal(status, 0, stdout + stderr)
    assert.doesNotMatch(stdout + stderr, /Test-Password/)
  }
  assert.match(runs[2]?.stdout ?? '', /^store: PostgreSQL 15\.\d+ at 127\.0\.0\.1:\d+\/t\w+$/m)
  const nowhere = 'service.repository.store.url=postgres://a:Test-Password@127.0.0.1:1/b'
  const gone = await stowage(folder, ['doctor', '--set', nowhere])
  assert.equal(gone.status, 1)
  assert.match(gone.stdout, /^problem: .*127\.0\.0\.1:1\/b cannot be used/m)
  assert.doesNotMatch(gone.stdout + gone.stderr, /Test-Password/)
})

test('of several nodes with a schedule one makes the backup, and all report it', async t => {
  if (!requirePeer(t, postgres)) return
  const { folder, settings } = await newCluster(t)
  const target = join(await temporaryFolder(), 'backups')
  const schedule = { 'service.backup.schedule': '0 0 29 2 *', 'service.backup.target': target }
  const start = () => startInProcess(t, { folder, settings: { ...settings, ...schedule } })
  const nodes = await Promise.all([start(), start(), start()])
  for (const node of nodes) {
    const admin = await node.admin()
    await eventually('this node knows the backup', async () =>
      /^stowage_backup_age_seconds \d/m.test((await admin.get('management/metrics')).text),
    )
  }
  assert.equal((await readdir(join(target, 'generations'), { recursive: true })).filter(isManifest).length, 1)
})

const isManifest = (path: string): boolean => /[0-9a-f]{40}$/.test(path)
