import assert from 'node:assert/strict'
import { test } from 'node:test'
import { offerCoreRoutes } from '../../src/assembly/routes.ts'
import { guestFrom } from '../../src/accounts/caller.ts'
import { StoreUnavailable } from '../../src/base/errors.ts'
import { createLog } from '../../src/base/log.ts'
import { offer } from '../../src/core/feature.ts'
import { sessionRoutes } from '../../src/features/sign-in/session-routes.ts'
import { QuotaExceeded } from '../../src/files/quota-usage.ts'
import { createApp } from '../../src/http/app.ts'
import type { AppServices } from '../../src/http/app-services.ts'
import { BaseAddress } from '../../src/http/base-address.ts'
import { FakeSystem } from '../support/fake-system.ts'

const nora = { ...guestFrom({ address: '', userAgent: '' }).user, id: '7', name: 'nora' }

/** The application over services that are empty but for what the steps of a request use. Users sign in by HTTP Basic. */
function newApp(more: object = {}) {
  const spaceAsked: string[] = []
  const services = {
    system: new FakeSystem(),
    cache: { during: (request: () => unknown) => request() },
    stopping: { isDraining: false },
    log: createLog('silent'),
    records: {},
    metrics: { answered: () => undefined, refused: () => undefined },
    secondFactor: { requirePresent: async () => undefined, isMissing: () => false },
    requireSpace: () => void spaceAsked.push('asked'),
    credentials: [],
    basic: { user: async () => ({ user: nora, groups: new Set() }) },
    ...more,
  } as unknown as AppServices
  const app = createApp(
    services,
    {
      address: { base: new BaseAddress('https://store.example.org/a/') },
      trustedProxies: [],
      cookie: { path: '/', httpOnly: true, secure: true, sameSite: 'lax', hostPrefix: false },
      cspReportUrl: undefined,
      invalidTokenIsError: false,
      inlineTypes: [],
      body: { idleTimeout: 1000, maxJson: 1000, memory: 1000 },
      cors: { enabled: false, origins: [] },
      jsonp: true,
      commit: undefined,
      version: '0',
    },
    [...offerCoreRoutes(services as never), ...offer(services as never, sessionRoutes as never)],
  )
  return { app, spaceAsked }
}

test('idle connections outlive those of the usual proxies, and no upload has a limit as a whole', () => {
  const { server } = newApp().app
  assert.deepEqual([server.keepAliveTimeout, server.headersTimeout, server.requestTimeout], [75_000, 60_000, 0])
  assert.deepEqual([server.maxConnections, server.maxRequestsPerSocket], [10_000, 10_000])
})

test('what adds rows needs space on the disk; signing in and reading need none', async () => {
  const { app, spaceAsked } = newApp()
  const authorization = `Basic ${Buffer.from('nora:secret').toString('base64')}`
  const asks = async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string) => {
    spaceAsked.length = 0
    await app.inject({ method, url: `/a${url}`, headers: { authorization } })
    return spaceAsked.length
  }
  for (const [method, url] of [
    ['POST', '/nothing'],
    ['PUT', '/nothing/entry/1'],
  ] as const)
    assert.equal(await asks(method, url), 1, `${method} ${url}`)
  for (const [method, url] of [
    ['GET', '/nothing/entry/1'],
    ['DELETE', '/nothing/entry/1'],
    ['PUT', '/auth/user'],
    ['POST', '/echo'],
    ['POST', '/validator'],
  ] as const)
    assert.equal(await asks(method, url), 0, `${method} ${url}`)
})

test('a response whose headers cannot be written is answered with 500', async () => {
  const { app } = newApp()
  app.get('/broken', (_request, reply) => reply.header('x-broken', 'two\nlines').send('text'))
  await app.listen({ port: 0, host: '127.0.0.1' })
  try {
    assert.equal((await fetch(new URL('/broken', app.listeningOrigin))).status, 500)
  } finally {
    await app.close()
  }
})

test('while the database is away, what does not fit into a quota is still refused as such, without numbers', async () => {
  const excess = { limit: 10, used: 9, needed: 5, missing: 4 }
  const { app } = newApp({
    requireSpace: () => {
      throw new QuotaExceeded({ kind: 'context', id: '3' }, 'bytes', excess)
    },
    quotaRefusals: { for: () => Promise.reject(new StoreUnavailable('The database')) },
    checkDisk: () => {},
  })
  const authorization = `Basic ${Buffer.from('nora:secret').toString('base64')}`
  const response = await app.inject({ method: 'POST', url: '/a/nothing', headers: { authorization } })
  assert.equal(response.statusCode, 413)
  assert.match(String(response.headers['content-type']), /^application\/problem\+json/)
  const { code, detail, quota } = response.json<Record<string, unknown>>()
  assert.deepEqual(
    [code, detail, quota],
    ['quota-exceeded', 'The context has too little of its quota left.', undefined],
  )
})
