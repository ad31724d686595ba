import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Run, stowage } from '../support/cli.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { pgbouncer, startPgBouncer } from '../support/peers/pgbouncer.ts'
import {
  administer,
  ownPostgres,
  postgres,
  postgresDatabase,
  requireTls,
  sharedPostgres,
  urlOf,
} from '../support/peers/postgres.ts'
import { selfSigned } from '../support/self-signed.ts'
import { ADMIN_PASSWORD, newContext, newEntry, startProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { putFile } from '../support/uploads.ts'

const run = async (command: string, url: string, dataFolder?: string): Promise<Run> => {
  const folder = dataFolder ?? (await temporaryFolder())
  const settings = [`service.repository.store.url=${url}`, 'service.http.port=0', `service.data.folder=${folder}`]
  const args = settings.flatMap(setting => ['--set', setting])
  return await stowage(folder, [command, ...args], { SERVICE_ADMIN_PASSWORD: ADMIN_PASSWORD })
}

/** A start that is refused, and what the doctor says of it. */
async function isRefused(url: string, message: RegExp): Promise<void> {
  const [serve, doctor] = [await run('serve', url), await run('doctor', url)]
  assert.equal(serve.status, 1, serve.stdout)
  assert.match(serve.stderr, message)
  assert.doesNotMatch(serve.stderr, /^ {4}at /m)
  assert.equal(doctor.stderr, '')
  assert.match(doctor.stdout, new RegExp(`^problem: store: .*(?:${message.source})`, 'm'))
}

/** Starts the service, and has many requests at once change rows. */
async function isUsable(t: Parameters<typeof startProcess>[0], url: string): Promise<void> {
  const service = await startProcess(t, { settings: { 'service.repository.store.url': url } })
  const admin = await service.admin()
  const context = await newContext(admin)
  const uploads = Array.from({ length: 40 }, async () => {
    const entry = await newEntry(admin, context)
    return (await putFile(admin, `${context}/resource/${entry}`, 'content')).status
  })
  assert.deepEqual(new Set(await Promise.all(uploads)), new Set([201]))
  assert.doesNotMatch((await run('doctor', url, service.folder)).stdout, /^problem: (?!backups)/m)
  assert.equal(await service.stop(), 0)
}

test('a role that may not create tables is told which right it needs, by the start and by doctor (D20.11)', async t => {
  if (!requirePeer(t, postgres)) return
  const url = new URL(await postgresDatabase())
  const database = url.pathname.slice(1)
  const server = await sharedPostgres()
  const role = `limited_${database}`
  await administer(server, `CREATE ROLE ${role} LOGIN PASSWORD '${url.password}'`)
  url.username = role
  await isRefused(
    url.href,
    new RegExp(`may not create tables in the database ${database}: GRANT CREATE ON SCHEMA public TO ${role}`),
  )
  await administer(server, `ALTER ROLE ${role} SET search_path = nowhere`)
  await isRefused(
    url.href,
    new RegExp(`has no schema in the database ${database}: CREATE SCHEMA AUTHORIZATION ${role}`),
  )
  await administer(server, `ALTER ROLE ${role} RESET search_path; GRANT CREATE ON DATABASE ${database} TO ${role}`)
  await administer(server, `CREATE SCHEMA AUTHORIZATION ${role}`, database)
  await isUsable(t, url.href)
})

test('a role that may not use the tables of another is told so in a line (D20.11)', async t => {
  if (!requirePeer(t, postgres)) return
  const url = new URL(await postgresDatabase())
  const database = url.pathname.slice(1)
  const server = await sharedPostgres()
  await isUsable(t, url.href)
  const role = `other_${database}`
  await administer(server, `CREATE ROLE ${role} LOGIN PASSWORD '${url.password}'`)
  await administer(server, `GRANT CREATE ON SCHEMA public TO ${role}`, database)
  url.username = role
  const { status, stderr } = await run('serve', url.href)
  assert.equal(status, 1)
  assert.match(stderr, /The database 127\S+ cannot be used: permission denied for table \w+$/m)
  assert.doesNotMatch(stderr, /^ {4}at /m)
})

test('PgBouncer in session mode needs no settings for Stowage; in transaction mode the start is refused (D20.11)', async t => {
  if (!requirePeer(t, postgres) || !requirePeer(t, pgbouncer)) return
  const url = await postgresDatabase()
  const inSessions = await startPgBouncer(t, url, 'session')
  await isUsable(t, inSessions)
  await isUsable(t, inSessions)
  await isRefused(
    await startPgBouncer(t, url, 'transaction'),
    /it is behind a pooler in transaction mode.*pool_mode = session/,
  )
})

test('sslmode=prefer and allow use a server without TLS, and one that demands it; another word is refused (D20.11)', async t => {
  if (!requirePeer(t, postgres)) return
  const server = await ownPostgres(t)
  await administer(server, 'CREATE DATABASE stowage')
  const at = (mode: string): string => `${urlOf(server, 'stowage')}?sslmode=${mode}`
  for (const mode of ['prefer', 'allow', 'disable']) await isUsable(t, at(mode))
  for (const mode of ['require', 'verify-full']) await isRefused(at(mode), /does not support SSL/)
  const wrong = await run('serve', at('sometimes'))
  assert.equal(wrong.status, 78)
  assert.match(wrong.stderr, /sslmode is sometimes, but must be one of disable, allow, prefer/)

  await requireTls(server, selfSigned())
  for (const mode of ['prefer', 'allow']) await isUsable(t, at(mode))
  await isRefused(at('disable'), /no encryption/)
  await isRefused(at('verify-full'), /self-signed certificate/)
})
