import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newestSchema } from '../../src/assembly/stores.ts'
import { stowage } from '../support/cli.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { administer, ownPostgres, postgres, type PostgresServer, urlOf } from '../support/peers/postgres.ts'
import { newContext, type Process, startProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { eventually } from '../support/waiting.ts'

/** One store on a server of its own, and how a node is started on it. */
async function newStore(t: { after(work: () => Promise<void>): void }) {
  const server = await ownPostgres(t)
  await administer(server, 'CREATE DATABASE stowage')
  const folder = await temporaryFolder()
  const settings = { 'service.repository.store.url': urlOf(server, 'stowage') }
  const sql = (text: string): Promise<unknown> => administer(server, text, 'stowage')
  return { server, sql, folder, settings, start: () => startProcess(t, { folder, settings }) }
}

/** Ends every connection of the services, as a restart of the server does. */
const disconnect = (server: PostgresServer): Promise<unknown> =>
  administer(server, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'stowage %'")

const ready = async (node: Process): Promise<number | undefined> =>
  (await node.visitor().get('management/ready')).status

/** Writes until the test ends it, and counts what was answered. */
function writeTo(node: Process) {
  const answers: number[] = []
  const end = new AbortController()
  const done = (async () => {
    const admin = await node.admin()
    while (!end.signal.aborted) answers.push((await admin.post('_contexts?graphtype=context', {})).status ?? 0)
  })()
  return {
    answers,
    end: async () => {
      end.abort()
      await done
    },
  }
}

test('a version with other tables does not start while a node of an older one serves, which notices nothing', async t => {
  if (!requirePeer(t, postgres)) return
  const { sql, settings, folder, start } = await newStore(t)
  const old = await start()
  const load = writeTo(old)
  await eventually('the node serves', () => load.answers.length > 5)
  // For the program the store is now one of an older version.
  await sql(`DELETE FROM schema_migrations WHERE id = ${newestSchema}`)
  const sets = Object.entries({ ...settings, 'service.data.folder': folder, 'service.http.port': '0' })
  const next = await stowage(folder, ['serve', ...sets.flatMap(([key, value]) => ['--set', `${key}=${value}`])])
  assert.equal(next.status, 1)
  assert.match(
    next.stderr,
    /Node [0-9a-f]{16} of version .* uses the database, and this version changes its tables\. Stop all nodes of the older version first\./,
  )
  const before = load.answers.length
  await eventually('the old node goes on', () => load.answers.length > before + 5)
  await load.end()
  assert.deepEqual(new Set(load.answers), new Set([201]))
})

test('nodes of one schema are replaced one after the other under load', async t => {
  if (!requirePeer(t, postgres)) return
  const { start } = await newStore(t)
  const [first, second] = [await start(), await start()]
  const load = writeTo(second)
  await eventually('the node serves', () => load.answers.length > 5)
  assert.equal(await first.stop(), 0)
  const replaced = await start()
  await eventually('both serve', () => load.answers.length > 20)
  await load.end()
  assert.deepEqual(new Set(load.answers), new Set([201]))
  assert.match(await newContext(await replaced.admin()), /^\d+$/)
})

test('an older version does not start on newer tables, and one that runs writes nothing more to them', async t => {
  if (!requirePeer(t, postgres)) return
  const { server, sql, settings, folder, start } = await newStore(t)
  const node = await start()
  const admin = await node.admin()
  const contexts = async (): Promise<unknown> => await sql('SELECT count(*)::int AS count FROM contexts')
  // A newer version has upgraded the store while this node had no connection, so that nothing kept it from that.
  await sql(`INSERT INTO schema_migrations (id, name) VALUES (${newestSchema + 1}, 'of a newer version')`)
  const before = await contexts()
  await disconnect(server)
  await eventually('the node is not ready', async () => (await ready(node)) === 503)
  assert.equal((await admin.post('_contexts?graphtype=context', {})).status, 503)
  assert.deepEqual(await contexts(), before)
  const message = new RegExp(
    `The store is at schema version ${newestSchema + 1}, but this version of Stowage knows it up to ${newestSchema} only\\. A newer Stowage has used it: start that one`,
  )
  await eventually('the log says why', () => message.test(node.output()))

  const sets = Object.entries({ ...settings, 'service.data.folder': folder, 'service.http.port': '0' })
  const again = await stowage(folder, ['serve', ...sets.flatMap(([key, value]) => ['--set', `${key}=${value}`])])
  assert.equal(again.status, 78)
  assert.match(again.stderr, message)
  assert.equal(again.stderr.trim().split('\n').length, 1)
})
