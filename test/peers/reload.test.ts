import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { requirePeer } from '../support/peers/peer.ts'
import { administer, ownPostgres, postgres, urlOf } from '../support/peers/postgres.ts'
import { redis, startRedis } from '../support/peers/redis.ts'
import { newContext } from '../support/service.ts'
import { startReloadable } from '../support/settings-file.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { eventually } from '../support/waiting.ts'

test('after a new password of PostgreSQL new connections work, and a wrong one changes nothing', async t => {
  if (!requirePeer(t, postgres)) return
  const server = await ownPostgres(t)
  await administer(server, "CREATE ROLE store LOGIN PASSWORD 'Old-Password-1'")
  await administer(server, 'CREATE DATABASE stowage OWNER store')
  const address = new URL(urlOf(server, 'stowage'))
  address.username = 'store'
  const urlWith = (password: string): string => {
    address.password = password
    return address.href
  }
  const file = join(await temporaryFolder(), 'url')
  await writeFile(file, urlWith('Old-Password-1'))
  const settings = { 'service.repository.store.url-file': file }
  const service = await startReloadable(t, settings)
  const admin = await service.admin()
  const context = await newContext(admin)

  await writeFile(file, urlWith('Wrong-Password-1'))
  const [refused] = await service.reload(settings)
  assert.equal(refused?.level, 'error')
  assert.match(refused?.reason ?? '', /^The database .* cannot be used: password authentication failed/)
  assert.equal((await admin.get(`_contexts/entry/${context}`)).status, 200)

  await administer(server, "ALTER ROLE store PASSWORD 'New-Password-1'")
  await writeFile(file, urlWith('New-Password-1'))
  const [outcome] = await service.reload(settings)
  assert.deepEqual(outcome?.settings, ['service.repository.store.url'])
  // All connections are new, those of the threads too.
  await administer(server, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'store'")
  // A request may still get a connection whose end this process has not read yet.
  const read = async () => (await admin.get(`_contexts/entry/${context}`)).status
  await eventually('a new connection', async () => (await read()) === 200)
  const search = async () => (await admin.get('search?type=solr&query=title:x*')).status
  await eventually('a new connection of a thread', async () => (await search()) === 200)
  assert.match(await newContext(admin), /^\d+$/)

  const elsewhere = new URL(urlWith('New-Password-1'))
  elsewhere.pathname = '/other'
  await writeFile(file, elsewhere.href)
  const lines = await service.reload(settings)
  assert.deepEqual(lines[0]?.settings, ['service.repository.store.url'])
  assert.match(lines[0]?.msg ?? '', /need a restart/)
  assert.doesNotMatch(service.output(), /(?:Old|New|Wrong)-Password-1/)
})

test('after a new password of Redis sessions go on, and a wrong one changes nothing', async t => {
  if (!requirePeer(t, redis)) return
  const server = await startRedis(t, { password: 'Old-Password-1' })
  const place = await temporaryFolder()
  const settings = (password: string): Record<string, string> => ({
    'service.cluster.redis.url': `redis://:${password}@127.0.0.1:${server.port}/0`,
    'service.auth.token.store': 'redis',
    'service.auth.token.key-file': join(place, 'token.key'),
  })
  const service = await startReloadable(t, settings('Old-Password-1'))
  const admin = await service.admin()
  const [refused] = await service.reload(settings('Wrong-Password-1'))
  assert.equal(refused?.level, 'error')
  assert.match(refused?.reason ?? '', /^Redis at .* cannot be used: /)
  assert.equal((await admin.get('auth/user')).json()['user'], 'admin')

  await server.cli('CONFIG', 'SET', 'requirepass', 'New-Password-1')
  const [outcome] = await service.reload(settings('New-Password-1'))
  assert.deepEqual(outcome?.settings, ['service.cluster.redis.url'])
  assert.equal((await admin.get('auth/user')).json()['user'], 'admin')
  assert.equal((await (await service.admin()).get('auth/user')).json()['user'], 'admin')
  assert.doesNotMatch(service.output(), /(?:Old|New|Wrong)-Password-1/)
})
