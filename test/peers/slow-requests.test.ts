import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from 'pg'
import { requirePeer } from '../support/peers/peer.ts'
import { administer, ownPostgres, postgres, signalPostgres, urlOf } from '../support/peers/postgres.ts'
import { newContext, newEntry, startProcess } from '../support/service.ts'
import { eventually } from '../support/waiting.ts'

test('a request that PostgreSQL keeps back is slow by its time for the database', async t => {
  if (!requirePeer(t, postgres)) return
  const server = await ownPostgres(t)
  await administer(server, 'CREATE DATABASE stowage')
  const service = await startProcess(t, {
    settings: { 'service.repository.store.url': urlOf(server, 'stowage'), 'service.log.slow': '5ms' },
  })
  const admin = await service.admin()
  const context = await newContext(admin)
  const entry = await newEntry(admin, context)
  const other = new Client({ connectionString: urlOf(server, 'stowage') })
  await other.connect()
  try {
    await other.query('BEGIN; LOCK TABLE entries IN ACCESS EXCLUSIVE MODE')
    const change = admin.put(`${context}/metadata/${entry}`, {})
    await eventually('the request waits for the lock', async () => {
      const { rows } = await other.query("SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'entries'::regclass")
      return rows.length > 0
    })
    await other.query('COMMIT')
    const id = (await change).headers['x-request-id']
    const slow = (): Record<string, unknown> | undefined =>
      service
        .output()
        .split('\n')
        .filter(text => text.includes('"slow request"'))
        .map(text => JSON.parse(text) as Record<string, unknown>)
        .find(({ requestId }) => requestId === id)
    await eventually('the slow request is in the log', () => slow() !== undefined)
    const line = slow() ?? assert.fail()
    assert.equal(line['route'], '/:context/metadata/:entry')
    assert.ok(Number(line['database']) > Number(line['ms']) / 2, JSON.stringify(line))
  } finally {
    await other.end()
  }
})

test('a search that PostgreSQL does not respond to is an outage, and one that takes too long is too costly', async t => {
  if (!requirePeer(t, postgres)) return
  const server = await ownPostgres(t)
  await administer(server, 'CREATE DATABASE stowage')
  const service = await startProcess(t, { settings: { 'service.repository.store.url': urlOf(server, 'stowage') } })
  const search = () => service.visitor().get('search?type=solr&query=title:word')
  assert.equal((await search()).status, 200)
  const codeOf = async () => (await search()).json<{ readonly code: string }>().code
  await signalPostgres(server, 'SIGSTOP')
  try {
    assert.equal(await codeOf(), 'store-unavailable')
  } finally {
    await signalPostgres(server, 'SIGCONT')
  }
  await eventually('searches work again', async () => (await search()).status === 200)
  const other = new Client({ connectionString: urlOf(server, 'stowage') })
  await other.connect()
  try {
    await other.query('BEGIN; LOCK TABLE search_entries IN ACCESS EXCLUSIVE MODE')
    assert.equal(await codeOf(), 'query-too-costly')
  } finally {
    await other.end()
  }
})
