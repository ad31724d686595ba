import assert from 'node:assert/strict'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { StartupError, StoreUnavailable } from '../../src/base/errors.ts'
import { realSystem } from '../../src/base/system.ts'
import { openPostgresDatabase } from '../../src/stores/postgres/postgres-database.ts'
import { sql } from '../../src/stores/sql.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { administer, ownPostgres, postgres, requireTls, urlOf } from '../support/peers/postgres.ts'
import { selfSigned } from '../support/self-signed.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('while the certificate files of the address are away, new connections use the last certificates that were read', async t => {
  if (!requirePeer(t, postgres)) return
  const folder = await temporaryFolder()
  const [server, client] = [selfSigned(), selfSigned()]
  const files = { sslrootcert: server.cert, sslcert: client.cert, sslkey: client.key }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { mode: 0o600 })
  const rows = await ownPostgres(t)
  await administer(rows, 'CREATE DATABASE stowage')
  await requireTls(rows, server, [client.cert])
  const query = new URLSearchParams({
    sslmode: 'verify-full',
    ...Object.fromEntries(Object.keys(files).map(name => [name, join(folder, name)])),
  })
  const url = `${urlOf(rows, 'stowage')}?${query.toString()}`
  const open = () => openPostgresDatabase(url, { system: realSystem, connections: 1 })
  const database = await open()
  t.after(() => database.close())

  await rename(join(folder, 'sslkey'), join(folder, 'away'))
  const pid = async (): Promise<number> =>
    (await database.get<{ pid: number }>(sql`SELECT pg_backend_pid() AS pid`))?.pid ?? 0
  const before = await pid()
  let next: Promise<number> | undefined
  const cut = database.transaction(async tx => {
    // Waits for the only connection, so that the pool replaces it as soon as it is lost.
    next = pid()
    await administer(rows, `SELECT pg_terminate_backend(${before})`)
    await tx.run(sql`SELECT 1`)
  })
  await assert.rejects(cut, StoreUnavailable)
  const after = await next
  assert.ok(after !== undefined && after !== before)
  assert.equal(await pid(), after)
  await assert.rejects(open(), StartupError)

  await rename(join(folder, 'away'), join(folder, 'sslkey'))
  await administer(rows, `SELECT pg_terminate_backend(${after})`)
  await database.get(sql`SELECT 1`).catch((error: unknown) => assert.ok(error instanceof StoreUnavailable))
  assert.notEqual(await pid(), after)
})
