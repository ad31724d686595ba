import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { insertFactor } from '../../src/features/factors/factor-rows.ts'
import { Passkeys, SIGN_IN, userHandleOf } from '../../src/features/passkeys/passkeys.ts'
import { Conflict, InvalidInput } from '../../src/base/errors.ts'
import { MemoryEphemeralStore } from '../../src/stores/memory-ephemeral-store.ts'
import { sql } from '../../src/stores/sql.ts'
import { client, keptAudit, storedUser } from '../support/factor-services.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { flags, SoftwareAuthenticator, type Statement } from '../support/software-authenticator.ts'
import { newDatabase } from '../support/store.ts'

const base = 'https://store.example.org/'
const { origin } = new URL(base)
const SESSION = 'session of nora'

/** Passkeys of nora (7) and bert (8). */
async function setUp(t: TestContext) {
  const database = await newDatabase(t)
  const system = new FakeSystem()
  const ephemeral = new MemoryEphemeralStore(system, { sweepInterval: 3_600_000 })
  const { audit, inserted } = keptAudit()
  const relyingParty = { id: 'store.example.org', origin, name: 'Store' }
  const passkeys = new Passkeys({ database, ephemeral, audit, system }, { relyingParty, base })
  const nora = await storedUser(database, '7')
  const bert = await storedUser(database, '8', { name: 'bert' })
  let factors = 0
  const add = async (user = nora, options: { readonly counts?: boolean } = {}, forged: Partial<Statement> = {}) => {
    const authenticator = new SoftwareAuthenticator(origin, options)
    const creation = await passkeys.creationOptions(user, SESSION)
    const factor = await passkeys.finishRegistration(user, 'Key', authenticator.create(creation, forged), SESSION)
    const id = `factor-${++factors}`
    const { credentialId, userHandle, transports, isSyncable } = factor
    const row = { ...factor, id, userId: user.id, credentialId, userHandle, transports, isSyncable }
    await database.transaction(tx => insertFactor(tx, { ...row, created: system.now(), lastUsed: undefined }))
    return { authenticator, id }
  }
  const verify = (response: unknown, userId = '7', bound = SESSION) =>
    passkeys.verify(response, { userId, bound, client })
  /** nora answers a challenge of hers, with something forged. */
  const answer = async (authenticator: SoftwareAuthenticator, forged: Partial<Statement> = {}) =>
    authenticator.get(await passkeys.requestOptions(nora, SESSION), forged)
  return { database, system, passkeys, inserted, nora, bert, add, verify, answer }
}

const refused = {
  constructor: InvalidInput,
  code: 'invalid-passkey',
  message: 'The passkey was not accepted. Start again.',
}

test('a passkey is registered once, by the user and in the session that began it (D29)', async t => {
  const { system, passkeys, nora, bert, add } = await setUp(t)
  const create = async () => new SoftwareAuthenticator(origin).create(await passkeys.creationOptions(nora, SESSION))
  await assert.rejects(passkeys.finishRegistration(bert, 'Key', await create(), SESSION), refused)
  await assert.rejects(passkeys.finishRegistration(nora, 'Key', await create(), 'another session'), refused)
  const late = await create()
  system.pass(300_001)
  await assert.rejects(passkeys.finishRegistration(nora, 'Key', late, SESSION), refused)
  const response = await create()
  const factor = await passkeys.finishRegistration(nora, 'Key', response, SESSION)
  assert.equal(factor.userHandle, userHandleOf(base, '7'))
  await assert.rejects(passkeys.finishRegistration(nora, 'Key', response, SESSION), refused)
  // Not even bert can register what nora has.
  const { authenticator } = await add(nora)
  const again = authenticator.create(await passkeys.creationOptions(bert, SESSION))
  await assert.rejects(passkeys.finishRegistration(bert, 'Key', again, SESSION), {
    constructor: Conflict,
    code: 'conflict',
    message: 'This passkey is registered already.',
  })
})

test('browsers learn which passkeys a user has only for that user, and none for a sign-in (D29)', async t => {
  const { passkeys, nora, bert, add } = await setUp(t)
  const { authenticator } = await add(nora)
  const own = [{ id: authenticator.credentialId, transports: ['internal'], type: 'public-key' }]
  assert.deepEqual((await passkeys.creationOptions(nora, SESSION)).excludeCredentials, own)
  assert.deepEqual((await passkeys.requestOptions(nora, SESSION)).allowCredentials, own)
  assert.deepEqual((await passkeys.requestOptions(bert, SESSION)).allowCredentials, [])
  const { allowCredentials = [], userVerification } = await passkeys.signInOptions()
  assert.deepEqual([allowCredentials, userVerification], [[], 'required'])
})

test('a browser gets all that it needs to create a passkey, or to use one (D29)', async t => {
  const { database, passkeys, nora, add } = await setUp(t)
  const { challenge, ...creation } = await passkeys.creationOptions(nora, SESSION)
  assert.equal(Buffer.from(challenge, 'base64url').length, 54)
  assert.deepEqual(creation, {
    rp: { id: 'store.example.org', name: 'Store' },
    user: { id: userHandleOf(base, '7'), name: 'nora', displayName: 'nora' },
    pubKeyCredParams: [-7, -257, -8].map(alg => ({ alg, type: 'public-key' })),
    timeout: 300_000,
    attestation: 'none',
    excludeCredentials: [],
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred', requireResidentKey: false },
    extensions: { credProps: true },
    hints: [],
  })
  const nameless = { ...(await storedUser(database, '9', { name: 'x' })), name: undefined }
  const { user } = await passkeys.creationOptions(nameless, SESSION)
  assert.deepEqual(user, { id: userHandleOf(base, '9'), name: '9', displayName: '9' })
  const { authenticator } = await add()
  const own = { id: authenticator.credentialId, transports: ['internal'], type: 'public-key' }
  const common = { rpId: 'store.example.org', timeout: 300_000, extensions: undefined }
  const without = async (options: Promise<{ readonly challenge: string }>) => {
    const { challenge: text, ...rest } = await options
    assert.equal(Buffer.from(text, 'base64url').length, 54)
    return rest
  }
  assert.deepEqual(await without(passkeys.requestOptions(nora, SESSION)), {
    ...common,
    allowCredentials: [own],
    userVerification: 'preferred',
  })
  assert.deepEqual(await without(passkeys.signInOptions()), {
    ...common,
    allowCredentials: undefined,
    userVerification: 'required',
  })
})

test('a key without PIN or fingerprint can be a second factor, and a passkey that is copied to other devices too', async t => {
  const { verify, add, answer } = await setUp(t)
  const plain = await add(undefined, {}, { flags: flags.UP })
  assert.deepEqual(await verify(await answer(plain.authenticator, { flags: flags.UP })), { factorId: plain.id })
  const synced = { flags: flags.UP | flags.UV | flags.BE | flags.BS }
  const copied = await add(undefined, {}, synced)
  assert.deepEqual(await verify(await answer(copied.authenticator, synced)), { factorId: copied.id })
  assert.equal(await verify(await answer(copied.authenticator)), undefined)
})

test('a response without a challenge is refused like any other', async t => {
  const { passkeys, nora, verify, add, answer } = await setUp(t)
  const clientDataJSON = Buffer.from('{}').toString('base64url')
  const { authenticator } = await add()
  const created = authenticator.create(await passkeys.creationOptions(nora, SESSION))
  const empty = { ...created, response: { ...created.response, clientDataJSON } }
  await assert.rejects(passkeys.finishRegistration(nora, 'Key', empty, SESSION), refused)
  const { response, ...rest } = await answer(authenticator)
  assert.equal(await verify({ ...rest, response: { ...response, clientDataJSON } }), undefined)
  assert.equal(await passkeys.ownerOf({ ...rest, response: { ...response, clientDataJSON } }), undefined)
})

test('for a passkey that nobody has a signature is verified too, and an id in another spelling is not even searched for', async t => {
  const { database, passkeys, add } = await setUp(t)
  const { authenticator } = await add()
  const verified = t.mock.method(crypto.subtle, 'verify')
  const owner = async (asked: SoftwareAuthenticator, change: object = {}, forged: Partial<Statement> = {}) => {
    verified.mock.resetCalls()
    return await passkeys.ownerOf({ ...asked.get(await passkeys.signInOptions(), forged), ...change })
  }
  assert.equal(await owner(new SoftwareAuthenticator(origin)), undefined)
  assert.equal(verified.mock.callCount(), 1)
  // As for the sign-in of a user, one without their PIN or fingerprint is not verified.
  assert.equal(await owner(new SoftwareAuthenticator(origin), {}, { flags: flags.UP }), undefined)
  assert.equal(verified.mock.callCount(), 0)
  assert.equal(await owner(authenticator), '7')
  assert.equal(verified.mock.callCount(), 0)
  const searched = t.mock.method(database, 'get')
  assert.equal(await owner(authenticator, { id: `${authenticator.credentialId}=` }), undefined)
  assert.equal(searched.mock.callCount(), 0)
})

test('a response counts once, for the user and the session that asked, and until it expires (D29.3)', async t => {
  const { system, verify, add, answer } = await setUp(t)
  const { authenticator, id } = await add()
  const response = await answer(authenticator)
  assert.equal(await verify(response, '8'), undefined)
  assert.equal(await verify(response, '7', 'another session'), undefined)
  assert.equal(await verify(response, '7', SIGN_IN), undefined)
  assert.deepEqual(await verify(response), { factorId: id })
  assert.equal(await verify(response), undefined)
  const late = await answer(authenticator)
  system.pass(300_001)
  assert.equal(await verify(late), undefined)
})

test('the passkey of one user is never a factor of another (D29)', async t => {
  const { bert, verify, add, answer } = await setUp(t)
  const { authenticator } = await add(bert)
  const response = await answer(authenticator)
  assert.equal(await verify(response), undefined)
  const stated = { ...response, response: { ...response.response, userHandle: undefined } }
  assert.equal(await verify(stated), undefined)
})

test('as a factor a passkey may leave out its user, but must not state another one (D29)', async t => {
  const { verify, add, answer } = await setUp(t)
  const { authenticator, id } = await add()
  for (const userHandle of [undefined, null, '']) {
    const { response, ...rest } = await answer(authenticator)
    assert.deepEqual(await verify({ ...rest, response: { ...response, userHandle } }), { factorId: id })
  }
  for (const userHandle of [userHandleOf(base, '8'), userHandleOf('https://other.example.org/', '7'), 'x']) {
    const { response, ...rest } = await answer(authenticator)
    assert.equal(await verify({ ...rest, response: { ...response, userHandle } }), undefined)
  }
})

test('as the only factor a passkey states its user and has verified them (D29.5)', async t => {
  const { passkeys, nora, verify, add } = await setUp(t)
  const { authenticator, id } = await add()
  const signIn = async (forged: Partial<Statement> = {}) => authenticator.get(await passkeys.signInOptions(), forged)
  const response = await signIn()
  assert.equal(await passkeys.ownerOf(response), '7')
  for (const userHandle of [undefined, null, '', userHandleOf(base, '8')]) {
    assert.equal(await verify({ ...response, response: { ...response.response, userHandle } }, '7', SIGN_IN), undefined)
  }
  assert.equal(await verify(await signIn({ flags: flags.UP }), '7', SIGN_IN), undefined)
  assert.deepEqual(await verify(response, '7', SIGN_IN), { factorId: id })
  // What was asked for after a password does not replace one.
  const second = authenticator.get(await passkeys.requestOptions(nora, SESSION))
  assert.equal(await passkeys.ownerOf(second), undefined)
  assert.deepEqual(await verify(authenticator.get(await passkeys.requestOptions(nora, SESSION), { flags: flags.UP })), {
    factorId: id,
  })
})

test('a passkey that nobody has, and what is no response, have no owner (D29.5)', async t => {
  const { passkeys, verify, add } = await setUp(t)
  await add()
  const unknown = new SoftwareAuthenticator(origin).get(await passkeys.signInOptions())
  const { response } = unknown
  const malformed = [
    undefined,
    null,
    'text',
    {},
    { id: unknown.id },
    { id: 7, response },
    { id: unknown.id, response: null },
    { id: unknown.id, response: { ...response, clientDataJSON: 7 } },
    { id: unknown.id, response: { ...response, authenticatorData: undefined } },
    { id: unknown.id, response: { ...response, signature: undefined } },
    { id: unknown.id, response: { ...response, userHandle: 7 } },
    { ...unknown, id: `${unknown.id}=` },
  ]
  for (const sent of [unknown, ...malformed]) {
    assert.equal(await passkeys.ownerOf(sent), undefined)
    assert.equal(await verify(sent, '7', SIGN_IN), undefined)
  }
})

test('a counter that stands still or goes back is refused and recorded: the passkey may have been copied (D29)', async t => {
  const { database, inserted, verify, add, answer } = await setUp(t)
  const { authenticator, id } = await add()
  assert.deepEqual(await verify(await answer(authenticator, { counter: 10 })), { factorId: id })
  for (const counter of [10, 9, 0]) {
    inserted.length = 0
    assert.equal(await verify(await answer(authenticator, { counter })), undefined, String(counter))
    const detail = { factor: id, stored: 10, received: counter }
    assert.deepEqual(inserted, [{ event: 'passkey-counter-mismatch', userId: '7', address: client.address, detail }])
  }
  assert.deepEqual(await verify(await answer(authenticator, { counter: 11 })), { factorId: id })
  const row = await database.get<{ counter: number }>(sql`SELECT counter FROM second_factors WHERE id = ${id}`)
  assert.equal(row?.counter, 11)
})

test('a passkey that does not count says 0 each time, and is refused once it counts and stops', async t => {
  const { inserted, verify, add, answer } = await setUp(t)
  const { authenticator, id } = await add(undefined, { counts: false })
  for (let use = 0; use < 2; use++) assert.deepEqual(await verify(await answer(authenticator)), { factorId: id })
  assert.deepEqual(inserted, [])
  assert.deepEqual(await verify(await answer(authenticator, { counter: 1 })), { factorId: id })
  assert.equal(await verify(await answer(authenticator)), undefined)
})

test('of several responses with one counter at the same time exactly one counts', async t => {
  const { verify, add, answer } = await setUp(t)
  const { authenticator, id } = await add()
  const responses = [await answer(authenticator, { counter: 5 }), await answer(authenticator, { counter: 5 })]
  const results = await Promise.all(responses.map(response => verify(response)))
  assert.deepEqual(results.filter(Boolean), [{ factorId: id }])
})
