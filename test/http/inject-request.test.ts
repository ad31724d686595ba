import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import Fastify from 'fastify'
import { injectRequest } from '../../src/http/readers/inject-request.ts'

const ofConnection = new Set(['date', 'connection', 'transfer-encoding'])

test('a request in memory gets what a request of the framework itself gets', async () => {
  const app = Fastify({ logger: false, exposeHeadRoutes: false })
  app.get('/text/:part', async (request, reply) => {
    await reply.header('x-part', (request.params as { part: string }).part).send(`ä ${request.headers.accept}`)
  })
  app.get('/bytes', async (_request, reply) => {
    reply.header('content-length', 3).header('vary', 'accept')
    reply.removeHeader('content-length')
    reply.header('x-length', String(reply.getHeader('content-length')))
    return await reply.send(Buffer.from('some bytes'))
  })
  app.get('/stream', async (_request, reply) => {
    return await reply
      .status(206)
      .type('text/plain')
      .send(Readable.from(['one, ', 'two']))
  })
  app.get('/nothing', async (_request, reply) => await reply.status(304).send())
  app.get('/refused', async () => {
    throw Object.assign(new Error('not so'), { statusCode: 409 })
  })
  await app.ready()
  for (const url of ['/text/a%20b', '/text/c?d=e', '/bytes', '/stream', '/nothing', '/refused', '/absent']) {
    const headers = { accept: 'text/plain', host: 'localhost:80', 'user-agent': 'lightMyRequest' }
    const expected = await app.inject({ method: 'GET', url, headers })
    const { statusCode, headers: said, body } = await injectRequest(app, { url, headers })
    assert.deepEqual([statusCode, body], [expected.statusCode, expected.payload], url)
    const others = Object.entries(expected.headers).filter(([name]) => !ofConnection.has(name))
    assert.deepEqual({ ...said }, Object.fromEntries(others), url)
  }
})

test('an answer that breaks off is an error', async () => {
  const app = Fastify({ logger: false })
  app.get('/', async (_request, reply) => {
    const cut = new Readable({ read() {} })
    cut.push('one, ')
    setImmediate(() => cut.destroy(new Error('cut')))
    return await reply.send(cut)
  })
  await app.ready()
  await assert.rejects(injectRequest(app, { url: '/', headers: {} }))
})
