import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { AccessTokens, tokenText, type TokenRequest } from '../../src/features/tokens/access-tokens.ts'
import type { Caller } from '../../src/accounts/caller.ts'
import { ADMIN, findUser } from '../../src/accounts/users.ts'
import { digestOf } from '../../src/accounts/tokens.ts'
import { createLog } from '../../src/base/log.ts'
import { sql } from '../../src/stores/sql.ts'
import { callerOf, client, disable, keptAudit, presentUser, storedUser } from '../support/factor-services.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { newDatabase } from '../support/store.ts'

const MAX_AGE = 1000

async function setUp(t: TestContext) {
  const database = await newDatabase(t)
  const system = new FakeSystem()
  const { audit, inserted, announced } = keptAudit()
  const lines: string[] = []
  const subjects: string[] = []
  const read = async (key: string, load: () => Promise<{ value: unknown; subjects: string[] } | undefined>) => {
    assert.match(key, /^access-token [A-Za-z0-9_-]{20,}$/)
    const loaded = await load()
    subjects.push(...(loaded?.subjects ?? []))
    return loaded?.value
  }
  const users = {
    find: async (id: string) => {
      const user = await findUser(database, id)
      return user && { user, groups: new Set(['20']) }
    },
  }
  let isAway = false
  const durabilities: unknown[] = []
  const transaction: typeof database.transaction = (work, options) => {
    durabilities.push(options?.durability)
    return isAway ? Promise.reject(new Error('away')) : database.transaction(work, options)
  }
  const facade = Object.assign(Object.create(database) as typeof database, {
    transaction,
    get: database.get.bind(database),
    all: database.all.bind(database),
    run: database.run.bind(database),
  })
  const log = createLog('error', { write: (line: string) => void lines.push(line) })
  const tokens = new AccessTokens(
    { database: facade, cache: { get: read } as never, users: users as never, audit, system, log },
    { maxAge: MAX_AGE },
  )
  await storedUser(database, '7')
  const nora = async (): Promise<Caller> => callerOf(await presentUser(database, '7'))
  const wish = (given: Partial<TokenRequest> = {}): TokenRequest => ({
    name: 'Backup',
    expires: system.now() + MAX_AGE * 1000,
    scopes: ['read'],
    contexts: undefined,
    addresses: undefined,
    ...given,
  })
  const create = async (given: Partial<TokenRequest> = {}) => tokens.create(await nora(), wish(given))
  const away = (is: boolean): void => void (isAway = is)
  return { database, system, tokens, inserted, announced, lines, subjects, nora, wish, create, away, durabilities }
}

const about = { userId: '7', userName: 'nora', actorId: '7', address: client.address }
const refusal = {
  name: 'Unauthenticated',
  code: 'invalid-access-token',
  message: 'The access token is unknown, expired, revoked, of a disabled user, or not accepted from this address.',
}

test('a token is for its user, with its scopes and contexts, and is shown once (D24.1)', async t => {
  const { tokens, create, inserted, announced, system, subjects, database } = await setUp(t)
  const expires = system.now() + 5000
  const { id, token } = await create({
    scopes: ['read', 'quota'],
    contexts: ['3'],
    addresses: ['192.0.2.0/24'],
    expires,
  })
  const detail = { token: id, name: 'Backup', scope: 'read quota', expires: new Date(expires).toISOString() }
  const entry = { event: 'access-token-created', ...about, detail }
  assert.deepEqual([inserted, announced], [[entry], [entry]])
  const { isStillValid, ...caller } = await tokens.caller(token, client, 'nora')
  assert.ok(isStillValid)
  assert.deepEqual(caller, {
    user: await presentUser(database, '7'),
    groups: new Set(['20']),
    client,
    grant: { tokenId: id, scopes: ['read', 'quota'], contexts: ['3'] },
  })
  assert.deepEqual(subjects, ['_principals/7'])
  await tokens.close()
  const [listed] = await tokens.list('7')
  assert.deepEqual(listed, {
    id,
    userId: '7',
    name: 'Backup',
    scopes: ['read', 'quota'],
    contexts: ['3'],
    addresses: ['192.0.2.0/24'],
    created: system.now(),
    expires,
    lastUsed: system.now(),
    lastAddress: client.address,
  })
  const stored = await database.all(sql`SELECT * FROM access_tokens`)
  assert.ok(!JSON.stringify(stored).includes(token))
})

test('without limits to contexts and addresses a token has none, and its user needs no name (D24.4)', async t => {
  const { tokens, create } = await setUp(t)
  const { id, token } = await create()
  assert.deepEqual((await tokens.caller(token, { ...client, address: '2001:db8::1' })).grant, {
    tokenId: id,
    scopes: ['read'],
  })
  await tokens.close()
  const [{ contexts, addresses, lastUsed } = assert.fail()] = await tokens.list('7')
  assert.deepEqual([contexts, addresses, typeof lastUsed], [undefined, undefined, 'number'])
})

test('a token that is not accepted gets one answer; the reason is on record once a minute (D24.2)', async t => {
  const { tokens, create, inserted, system, database } = await setUp(t)
  const { token } = await create({ addresses: ['192.0.2.0/24'], expires: system.now() + 120_000 })
  const elsewhere = { ...client, address: '198.51.100.1' }
  inserted.length = 0
  const reasons = () => inserted.splice(0).map(({ userId, detail }) => [userId, detail?.['why']])
  await assert.rejects(async () => await tokens.caller(`${token}x`, client), refusal)
  assert.deepEqual(reasons(), [], 'no token at all')
  const unknown = (await create()).token
  await database.run(sql`DELETE FROM access_tokens WHERE addresses IS NULL`)
  inserted.length = 0
  await assert.rejects(async () => await tokens.caller(unknown, client), refusal)
  assert.deepEqual(inserted.splice(0), [
    {
      event: 'login-failed',
      userId: undefined,
      address: client.address,
      detail: { mechanism: 'access-token', why: 'unknown' },
    },
  ])
  await assert.rejects(async () => await tokens.caller(token, elsewhere), refusal)
  assert.deepEqual(reasons(), [['7', 'address']])
  system.pass(59_999)
  await assert.rejects(async () => await tokens.caller(token, client, 'olaf'), refusal)
  assert.deepEqual(reasons(), [])
  system.pass(1)
  await assert.rejects(async () => await tokens.caller(token, client, 'olaf'), refusal)
  assert.deepEqual(reasons(), [['7', 'user']])
  await tokens.caller(token, client, 'nora')
  system.pass(59_999)
  await tokens.caller(token, client)
  system.pass(1)
  await assert.rejects(async () => await tokens.caller(token, client), refusal, 'at the very time of its end')
  assert.deepEqual(reasons(), [['7', 'expired']])
  await tokens.close()
})

test('a token ends with its account (D24.5)', async t => {
  const { tokens, create, database } = await setUp(t)
  const { token } = await create()
  await database.run(sql`UPDATE principals SET disabled = 1`)
  await assert.rejects(async () => await tokens.caller(token, client), refusal)
  await database.run(sql`UPDATE principals SET disabled = 0`)
  await tokens.caller(token, client)
  await disable(database, await presentUser(database, '7'))
  assert.deepEqual(await tokens.list('7'), [])
  await tokens.close()
})

test('what a token may be is checked, and said (D24.1)', async t => {
  const { create, system, tokens, inserted } = await setUp(t)
  const now = system.now()
  const latest = new Date(now + MAX_AGE * 1000).toISOString()
  const name = '`name` must be 1 to 100 characters without control characters.'
  const expires = (time: number): string =>
    `\`expires\` must be a time in the future, at the latest ${latest}, but is ${new Date(time).toJSON()}.`
  const refused: ReadonlyArray<readonly [wish: Partial<TokenRequest>, message: string]> = [
    [{ name: '' }, name],
    [{ name: '  ' }, name],
    [{ name: 'x'.repeat(101) }, name],
    [{ name: 'a\nb' }, name],
    [{ expires: now }, expires(now)],
    [{ expires: now + MAX_AGE * 1000 + 1 }, expires(now + MAX_AGE * 1000 + 1)],
    [{ expires: Number.NaN }, expires(Number.NaN)],
    [{ scopes: [] }, '`scopes` must name at least one scope.'],
    [{ scopes: ['admin'] }, 'Only administrators have the scope `admin`.'],
    [{ contexts: [] }, '`contexts` must name at least one context, or be left out.'],
    [{ addresses: [] }, '`addresses` must name at least one range, or be left out.'],
    [{ addresses: ['192.0.2.0/24', 'x'] }, '"x" is no address range such as 192.0.2.0/24.'],
    [{ addresses: ['x'.repeat(61)] }, `"${'x'.repeat(60)}" is no address range such as 192.0.2.0/24.`],
  ]
  for (const [wish, message] of refused) await assert.rejects(create(wish), { code: 'invalid-value', message })
  assert.deepEqual([inserted, await tokens.list('7')], [[], []])
  for (const wish of [{ name: 'x' }, { name: 'x'.repeat(100) }, { expires: now + 1 }, { contexts: ['3'] }])
    await create(wish)
})

test('the scope `admin` is for administrators, and for all contexts (D24.4)', async t => {
  const { tokens, database, wish } = await setUp(t)
  const admin = callerOf(await storedUser(database, ADMIN, { name: 'admin' }))
  await tokens.create(admin, wish({ scopes: ['admin'] }))
  await assert.rejects(tokens.create(admin, wish({ scopes: ['admin'], contexts: ['3'] })), {
    message: 'A token with the scope `admin` cannot be limited to contexts.',
  })
})

test('a user has at most a hundred tokens, and lists the latest first', async t => {
  const { create, tokens, system, database } = await setUp(t)
  const ids: string[] = []
  for (let count = 0; count < 3; count++) {
    system.pass(1)
    ids.unshift((await create()).id)
  }
  assert.deepEqual(
    (await tokens.list('7')).map(({ id }) => id),
    ids,
  )
  assert.deepEqual(await tokens.list('8'), [])
  const copy = (number: number) =>
    database.run(sql`INSERT INTO access_tokens (id, digest, user_id, name, scopes, created, expires)
    VALUES (${`c${number}`}, ${`d${number}`}, '7', 'x', '[]', 0, 0)`)
  for (let number = 4; number <= 99; number++) await copy(number)
  await create()
  const full = { code: 'conflict', message: 'A user has at most 100 access tokens. Revoke one first.' }
  await assert.rejects(create(), full)
})

test('owners and administrators revoke a token; for others there is none (D24.5)', async t => {
  const { create, tokens, database, inserted, announced, nora } = await setUp(t)
  const [own, other] = [await create(), await create({ name: 'Other' })]
  inserted.length = announced.length = 0
  const olaf = callerOf(await storedUser(database, '8', { name: 'olaf' }))
  const admin = callerOf(await storedUser(database, ADMIN, { name: 'admin' }))
  const unknown = { code: 'not-found', message: /^There is no access token with the id "/ }
  await assert.rejects(tokens.revoke(olaf, own.id), unknown)
  await assert.rejects(tokens.revoke(admin, 'x'), unknown)
  assert.deepEqual([inserted, announced], [[], []])
  await tokens.revoke(await nora(), own.id)
  await tokens.revoke(admin, other.id)
  const revoked = (actorId: string, token: string, name: string) => ({
    event: 'access-token-revoked',
    userId: '7',
    userName: undefined,
    actorId,
    address: client.address,
    detail: { token, name },
  })
  assert.deepEqual(inserted, [revoked('7', own.id, 'Backup'), revoked(ADMIN, other.id, 'Other')])
  assert.deepEqual(announced, inserted)
  await assert.rejects(async () => await tokens.caller(own.token, client), refusal)
})

test('an account that has ended creates and revokes nothing', async t => {
  const { create, tokens, database, nora, wish } = await setUp(t)
  const { id } = await create()
  const caller = await nora()
  await database.run(sql`UPDATE principals SET disabled = 1`)
  await assert.rejects(tokens.create(caller, wish()), { code: 'not-signed-in' })
  await assert.rejects(tokens.revoke(caller, id), { code: 'not-signed-in' })
})

test('the last use is noted once a minute, and a store that cannot write stops no reader', async t => {
  const { create, tokens, system, away, lines, durabilities } = await setUp(t)
  const { token } = await create()
  durabilities.length = 0
  const use = async (address: string) => {
    await tokens.caller(token, { ...client, address })
    await tokens.close()
    const [{ lastUsed, lastAddress } = assert.fail()] = await tokens.list('7')
    return [lastUsed, lastAddress]
  }
  const first = system.now()
  assert.deepEqual(await use('192.0.2.1'), [first, '192.0.2.1'])
  system.pass(59_999)
  assert.deepEqual(await use('192.0.2.2'), [first, '192.0.2.1'])
  system.pass(1)
  assert.deepEqual(durabilities, ['relaxed'])
  assert.deepEqual(await use('192.0.2.3'), [first + 60_000, '192.0.2.3'])
  system.pass(60_000)
  away(true)
  assert.deepEqual(await use('192.0.2.4'), [first + 60_000, '192.0.2.3'])
  const { msg, err } = JSON.parse(lines[0] ?? '{}') as { msg?: string; err?: { message?: string } }
  assert.deepEqual([msg, err?.message], ['noting the use of an access token failed', 'away'])
})

test('a reading that is kept notes one use a minute', async t => {
  const { database, create, system, durabilities, wish, nora } = await setUp(t)
  const kept = new Map<string, unknown>()
  const read = async (key: string, load: () => Promise<{ value: unknown } | undefined>) => {
    if (!kept.has(key)) kept.set(key, (await load())?.value)
    return kept.get(key)
  }
  const writes: unknown[] = []
  const facade = Object.assign(Object.create(database) as typeof database, {
    get: database.get.bind(database),
    transaction: (work: never, options: unknown) => {
      writes.push(options)
      return database.transaction(work)
    },
  })
  const find = async () => ({ user: (await nora()).user, groups: new Set<string>() })
  const deps = { database: facade, cache: { get: read }, users: { find }, system, audit: {}, log: {} }
  const tokens = new AccessTokens(deps as never, { maxAge: MAX_AGE })
  const { token } = await create(wish())
  assert.deepEqual(durabilities.length, 1)
  for (const [pass, expected] of [
    [0, 1],
    [59_999, 1],
    [1, 2],
    [30_000, 2],
  ] as const) {
    system.pass(pass)
    await tokens.caller(token, client)
    await tokens.close()
    assert.equal(writes.length, expected)
  }
})

test('refusals of a thousand tokens are remembered, and then begin anew: memory is limited', async t => {
  const { database, tokens, inserted, system } = await setUp(t)
  const token = (number: number) => tokenText(new Uint8Array(Buffer.from(String(number).padStart(32, '0'))))
  await database.transaction(async tx => {
    for (let number = 0; number <= 1000; number++) {
      await tx.run(sql`INSERT INTO access_tokens (id, digest, user_id, name, scopes, created, expires)
        VALUES (${`t${number}`}, ${digestOf(token(number))}, '7', 'x', '["read"]', 0, ${system.now()})`)
    }
  })
  const rowsFor = async (number: number): Promise<number> => {
    inserted.length = 0
    await assert.rejects(async () => await tokens.caller(token(number), client), refusal)
    return inserted.length
  }
  for (let number = 0; number < 1000; number++) assert.equal(await rowsFor(number), 1)
  assert.equal(await rowsFor(0), 0)
  assert.equal(await rowsFor(1000), 1)
  assert.equal(await rowsFor(0), 1)
  assert.equal(await rowsFor(1000), 0)
})

test('a token that has expired is listed for thirty days more, and then deleted', async t => {
  const { create, tokens, system } = await setUp(t)
  await create({ expires: system.now() + 1 })
  system.pass(1 + 30 * 86_400_000)
  await tokens.expire()
  assert.equal((await tokens.list('7')).length, 1)
  system.pass(1)
  await tokens.expire()
  assert.deepEqual(await tokens.list('7'), [])
})
