import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { Overloaded, StartupError, StoreUnavailable } from '../../src/base/errors.ts'
import { createLog } from '../../src/base/log.ts'
import { connectRedis, type RedisConnection } from '../../src/stores/redis/redis-connection.ts'
import { openRedisEphemeralStore } from '../../src/stores/redis/redis-ephemeral-store.ts'
import { keptLog } from '../support/kept-log.ts'
import { eventually } from '../support/waiting.ts'

const text = (value: string): string => `$${Buffer.byteLength(value)}\r\n${value}\r\n`
const list = (items: readonly string[]): string => `*${items.length}\r\n${items.join('')}`
const info = (...lines: string[]): string => text(['# Server', ...lines, ''].join('\r\n'))

/** A server that speaks the protocol of Redis, and replies as the test says: `'silence'` sends nothing, `'end'` hangs up. */
async function serverWith(t: TestContext) {
  const fake = {
    port: 0,
    commands: [] as string[][],
    sockets: [] as Socket[],
    /** `undefined` for the usual reply. */
    reply: (() => undefined) as (parts: readonly string[]) => string | undefined,
    info: info('redis_version:7.4.1', 'maxmemory_policy:noeviction'),
  }
  const usual = ([name = '']: readonly string[]): string => {
    if (name === 'INFO') return fake.info
    if (name === 'PING') return '+PONG\r\n'
    return name === 'HELLO' ? '%0\r\n' : '+OK\r\n'
  }
  const server = createServer(socket => {
    fake.sockets.push(socket)
    socket.on('error', () => {})
    let rest = Buffer.alloc(0)
    socket.on('data', chunk => {
      rest = Buffer.concat([rest, chunk])
      for (let read = commandIn(rest); read; read = commandIn(rest)) {
        rest = rest.subarray(read.length)
        fake.commands.push(read.parts)
        const reply = fake.reply(read.parts) ?? usual(read.parts)
        if (reply === 'end') socket.destroy()
        else if (reply !== 'silence') socket.write(reply)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  fake.port = (server.address() as { port: number }).port
  t.after(() => {
    for (const socket of fake.sockets) socket.destroy()
    server.close()
  })
  return fake
}

/** The first command of these bytes, if it is complete. */
function commandIn(bytes: Buffer): { readonly parts: string[]; readonly length: number } | undefined {
  const lineAt = (at: number): { readonly number: number; readonly next: number } | undefined => {
    const end = bytes.indexOf('\r\n', at)
    return end < 0 ? undefined : { number: Number(bytes.toString('latin1', at + 1, end)), next: end + 2 }
  }
  const head = lineAt(0)
  if (!head) return undefined
  const parts: string[] = []
  let at = head.next
  while (parts.length < head.number) {
    const size = lineAt(at)
    if (!size || bytes.length < size.next + size.number + 2) return undefined
    parts.push(bytes.toString('utf8', size.next, size.next + size.number))
    at = size.next + size.number + 2
  }
  return { parts, length: at }
}

const silentLog = createLog('silent')

async function refusalOf(opening: Promise<RedisConnection>): Promise<string> {
  try {
    await (await opening).close()
  } catch (error) {
    assert.ok(error instanceof StartupError, String(error))
    return error.message
  }
  return 'it was opened'
}

test('a server that is too old stops the start; version 7 and later, and what does not say, are used', async t => {
  const fake = await serverWith(t)
  const url = `redis://127.0.0.1:${fake.port}/3`
  for (const version of ['6.2.14', '2.8.0', '6.999']) {
    fake.info = info(`redis_version:${version}`, 'os:Linux')
    assert.equal(
      await refusalOf(connectRedis(url, silentLog)),
      `Redis at 127.0.0.1:${fake.port}/3 is too old (redis_version:${version}): version 7 or later is needed.`,
    )
  }
  for (const line of ['redis_version:7.0.0', 'redis_version:10.2.1', 'server_name:valkey', 'not_redis_version:6.0']) {
    fake.info = info(line)
    await (await connectRedis(url, silentLog)).close()
  }
  assert.ok(fake.commands.some(parts => parts.join(' ') === 'SELECT 3'))
  assert.ok(fake.commands.some(parts => parts.join(' ') === 'INFO server memory'))
})

test('a server that may drop logins when it is full is used, with a warning', async t => {
  const fake = await serverWith(t)
  for (const [policy, isWarned] of [
    ['maxmemory_policy:allkeys-lru', true],
    ['maxmemory_policy:noeviction', false],
    ['xmaxmemory_policy:allkeys-lru', false],
  ] as const) {
    fake.info = info('redis_version:7.4.1', policy)
    const { log, said } = keptLog()
    await (await connectRedis(`redis://127.0.0.1:${fake.port}`, log)).close()
    const advice = 'Redis may drop logins and lockouts when it is full: set its maxmemory-policy to noeviction'
    assert.deepEqual(said(), isWarned ? [['warn', advice, { policy: 'allkeys-lru' }]] : [])
  }
})

test('what a server says about a password is shown without it', async t => {
  const fake = await serverWith(t)
  for (const [url, said, shown] of [
    [':p%40ss@', 'ERR p@ss and p%40ss are wrong', 'ERR … and … are wrong'],
    ['name:secret@', 'WRONGPASS secret', 'WRONGPASS …'],
    ['', 'ERR no', 'ERR no'],
  ] as const) {
    fake.reply = parts => (parts.includes('AUTH') || parts[0] === 'INFO' ? `-${said}\r\n` : undefined)
    const message = await refusalOf(connectRedis(`redis://${url}127.0.0.1:${fake.port}/3`, silentLog))
    assert.equal(message, `Redis at 127.0.0.1:${fake.port}/3 cannot be used: ${shown}`)
  }
  const sent = fake.commands.map(parts => parts.join(' '))
  assert.ok(
    sent.some(command => command.includes('AUTH default p@ss')) &&
      sent.some(command => command.includes('AUTH name secret')),
  )
})

test('an error of the server makes it unavailable, which is logged once, as is its end', async t => {
  const fake = await serverWith(t)
  const { log, said } = keptLog()
  const connection = await connectRedis(`redis://127.0.0.1:${fake.port}`, log)
  t.after(() => connection.close())
  const redis = `127.0.0.1:${fake.port}`
  fake.reply = ([name]) => (name === 'GET' ? '-LOADING not yet\r\n' : undefined)
  for (let round = 0; round < 2; round++) {
    await assert.rejects(connection.command('GET', 'a'), (error: unknown) => {
      assert.ok(error instanceof StoreUnavailable)
      assert.deepEqual(
        [error.message, error.retryAfter, (error.cause as Error).message],
        ['The store of sessions and lockouts cannot be reached at the moment.', 2, 'LOADING not yet'],
      )
      return true
    })
  }
  assert.deepEqual(said(), [['error', 'Redis cannot be reached', { reason: 'LOADING not yet', redis }]])
  fake.reply = ([name]) => (name === 'GET' ? text('value') : undefined)
  assert.deepEqual([await connection.command('GET', 'a'), await connection.command('GET', 'a')], ['value', 'value'])
  assert.deepEqual(said(), [['info', 'Redis can be reached again', { redis }]])
})

test('a connection that breaks is opened again by itself', async t => {
  const fake = await serverWith(t)
  const { log, said } = keptLog()
  const connection = await connectRedis(`redis://127.0.0.1:${fake.port}`, log)
  fake.reply = ([name]) => (name === 'GET' ? 'end' : undefined)
  await assert.rejects(connection.command('GET', 'a'), StoreUnavailable)
  fake.reply = () => undefined
  await eventually('the connection is back', () =>
    connection.command('GET', 'a').then(
      () => true,
      () => false,
    ),
  )
  assert.ok(fake.sockets.length >= 2)
  const lines = said()
  assert.deepEqual(
    lines.slice(0, 2).map(([level, what]) => `${level} ${what}`),
    ['error Redis cannot be reached', 'info Redis can be reached again'],
  )
  await connection.close()
  assert.deepEqual(said(), [], 'its own end is no outage')
})

test('a connection that stays silent is given up, with all that waits on it, and another one is used', async t => {
  const fake = await serverWith(t)
  const { log, said } = keptLog()
  const connection = await connectRedis(`redis://127.0.0.1:${fake.port}`, log)
  t.after(() => connection.close())
  fake.reply = () => 'silence'
  const causes = (await Promise.allSettled([connection.command('GET', 'a'), connection.command('GET', 'b')])).map(
    result => {
      assert.ok(result.status === 'rejected' && result.reason instanceof StoreUnavailable)
      return result.reason.cause
    },
  )
  assert.ok(
    causes.some(cause => (cause as Error).message === 'no answer within 2000 ms'),
    String(causes),
  )
  fake.reply = () => undefined
  await eventually('another connection is used', () =>
    connection.command('GET', 'a').then(
      () => true,
      () => false,
    ),
  )
  assert.ok(fake.sockets.length >= 2)
  assert.equal(said()[0]?.[1], 'Redis cannot be reached')
})

test('a server that no longer knows a script is asked with its text, and nothing is logged', async t => {
  const fake = await serverWith(t)
  const { log, said } = keptLog()
  const store = await openRedisEphemeralStore(`redis://127.0.0.1:${fake.port}`, log, {
    capacity: [{ prefix: 'a:', max: 7 }],
  })
  t.after(() => store.close())
  fake.reply = ([name]) =>
    name === 'EVALSHA' ? '-NOSCRIPT No matching script.\r\n' : name === 'EVAL' ? ':1\r\n' : undefined
  assert.equal(await store.add('a:1', { b: 1 }, 1.5), true)
  assert.deepEqual(said(), [])
})

test('a listing asks page by page for the keys of a prefix, whatever it contains, and names each of them once', async t => {
  const fake = await serverWith(t)
  const store = await openRedisEphemeralStore(`redis://127.0.0.1:${fake.port}`, silentLog)
  t.after(() => store.close())
  const pages: Record<string, readonly [string, readonly string[]]> = {
    '0': ['5', ['stowage:a', 'stowage:b']],
    '5': ['9', []],
    '9': ['0', ['stowage:b', 'stowage:c', 'stowage:gone']],
  }
  fake.reply = ([name, cursor = '', ...rest]) => {
    if (name === 'SCAN') {
      const [next, keys] = pages[cursor] ?? assert.fail(cursor)
      return list([text(next), list(keys.map(text))])
    }
    if (name !== 'MGET') return undefined
    return list([cursor, ...rest].map(key => (key === 'stowage:gone' ? '$-1\r\n' : text(`"${key}"`))))
  }
  const found: unknown[] = []
  for await (const pair of store.scan('*?[^-]\\x')) found.push(pair)
  assert.deepEqual(found, [
    ['a', 'stowage:a'],
    ['b', 'stowage:b'],
    ['c', 'stowage:c'],
  ])
  assert.equal(await store.count(''), 4)
})

test('a record that others change again and again is given up in the end', async t => {
  const fake = await serverWith(t)
  const store = await openRedisEphemeralStore(`redis://127.0.0.1:${fake.port}`, silentLog)
  t.after(() => store.close())
  let value = 0
  fake.reply = ([name]) => (name === 'GET' || name === 'EVALSHA' ? text(String(++value)) : undefined)
  let changes = 0
  const updating = async () =>
    await store.update<number>('k', (old = 0) => {
      changes++
      return { value: old, ttl: 10 }
    })
  await assert.rejects(updating, (error: unknown) => {
    assert.ok(error instanceof Overloaded)
    assert.equal(error.message, 'Conflicting writes to the store of sessions. Try again in 1 second.')
    return true
  })
  assert.equal(changes, 200)
})
