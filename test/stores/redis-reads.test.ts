import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RedisReads } from '../../src/stores/redis/redis-reads.ts'

/** A server with these texts, and the commands that it was sent. */
function serverOf(texts: Record<string, string>) {
  const commands: string[][] = []
  return {
    texts,
    commands,
    command: async (name = '', ...keys: readonly string[]): Promise<unknown> => {
      commands.push([name, ...keys])
      const replies = keys.map(key => texts[key] ?? null)
      return name === 'GET' ? replies[0] : replies
    },
  }
}

test('what one turn asks for is one command, sent after the last of it was asked for', async () => {
  const server = serverOf({ a: '{"n":1}', b: '2' })
  const reads = new RedisReads(server)
  const all = [reads.get('a'), reads.get('b'), reads.get('a'), reads.get('absent')]
  server.texts['a'] = '{"n":3}'
  assert.deepEqual(await Promise.all(all), [{ n: 3 }, 2, { n: 3 }, undefined])
  assert.deepEqual(server.commands, [['MGET', 'a', 'b', 'a', 'absent']])
  assert.equal(await reads.get('b'), 2)
  assert.deepEqual(server.commands[1], ['GET', 'b'])
})

test('the server is asked each time, and a value stays the same object only as long as its text does', async () => {
  const server = serverOf({ a: '{"n":1}' })
  const reads = new RedisReads(server)
  const first = await reads.get('a')
  assert.equal(await reads.get('a'), first)
  server.texts['a'] = '{"n":2}'
  assert.deepEqual(await reads.get('a'), { n: 2 })
  delete server.texts['a']
  assert.equal(await reads.get('a'), undefined)
  server.texts['a'] = '{"n":2}'
  assert.deepEqual(await reads.get('a'), { n: 2 })
  const long = JSON.stringify('x'.repeat(3000))
  server.texts['a'] = long
  assert.equal(await reads.get('a'), JSON.parse(long))
  assert.equal(server.commands.length, 6)
})

test('very many keys are several commands', async () => {
  const server = serverOf({ k0: '0', k1200: '1200' })
  const reads = new RedisReads(server)
  const found = await Promise.all(Array.from({ length: 1201 }, (_, n) => reads.get(`k${n}`)))
  assert.deepEqual([found[0], found[1], found[1200]], [0, undefined, 1200])
  assert.deepEqual(
    server.commands.map(({ length }) => length - 1),
    [500, 500, 201],
  )
})

test('a text that is not ours fails only its reader, a lost server fails all who wait', async () => {
  const server = serverOf({ a: '{', b: '2' })
  const reads = new RedisReads(server)
  const [foreign, own] = await Promise.allSettled([reads.get('a'), reads.get('b')])
  assert.equal(foreign?.status, 'rejected')
  assert.deepEqual(own, { status: 'fulfilled', value: 2 })
  const lost = new Error('lost')
  server.command = () => Promise.reject(lost)
  for (const { reason } of (await Promise.allSettled([reads.get('a'), reads.get('b')])) as PromiseRejectedResult[])
    assert.equal(reason, lost)
})
