import assert from 'node:assert/strict'
import { test } from 'node:test'
import { after } from '../support/after.ts'
import { codeOf, guess, NEXT_PASSWORD, openStore, userPath } from '../support/accounts.ts'
import { sql } from '../../src/stores/sql.ts'
import type { Answer, Visitor } from '../support/http-client.ts'
import {
  addPasskey,
  newAuthenticator,
  optionsAt,
  passkeySettings,
  sendRegistration,
  signInWithPasskey,
} from '../support/passkeys.ts'
import { pendingCookie, prove } from '../support/second-factors.ts'
import { newUser, startInProcess } from '../support/service.ts'
import { flags, SoftwareAuthenticator } from '../support/software-authenticator.ts'

const service = await startInProcess(
  { after },
  { settings: { ...(await passkeySettings()), 'service.auth.password.blacklist.1': 'provided@example.org' } },
)
const { system } = service
const admin = await service.admin()
const refusal = (answer: Answer): readonly unknown[] => [answer.status, codeOf(answer)]
const nameOf = async (visitor: Visitor): Promise<unknown> => (await visitor.get('auth/user')).json()['user']

async function newOwner() {
  const { id: userId, ...user } = await newUser(service, admin)
  return { ...user, userId, ...(await addPasskey(user.visitor)) }
}

/** The cookie of a sign-in that waits for its second factor. */
async function firstStep(user: { readonly name: string; readonly password: string }): Promise<string> {
  const answer = await service.visitor().signIn(user.name, user.password)
  assert.deepEqual(refusal(answer), [401, 'second-factor-required'])
  assert.deepEqual(answer.json()['factors'], ['passkey', 'recovery'])
  return pendingCookie(answer)
}

/** How many events of this kind the audit log has about a user. */
async function recorded(userId: string, event: string): Promise<number> {
  const answer = await admin.get(`management/audit?user=${userId}&event=${event}`)
  // A part of a name or id is enough for the search.
  return answer.json<{ events: Array<{ userId?: string }> }>().events.filter(one => one.userId === userId).length
}

for (const algorithm of ['ES256', 'RS256', 'EdDSA'] as const) {
  test(`a passkey (${algorithm}) is added, proves the second factor, and signs in alone (D29.1)`, async () => {
    const user = await newUser(service, admin)
    const { authenticator, recoveryCodes } = await addPasskey(
      user.visitor,
      newAuthenticator(user.visitor, algorithm),
      'Laptop',
    )
    assert.equal(recoveryCodes.length, 10)
    const { factors } = (await user.visitor.get('auth/factors')).json<{ factors: Array<Record<string, unknown>> }>()
    assert.deepEqual(
      factors.map(({ kind, name, lastUsed }) => ({ kind, name, lastUsed })),
      [{ kind: 'passkey', name: 'Laptop', lastUsed: undefined }],
    )

    const cookie = await firstStep(user)
    const visitor = service.visitor()
    const options = await optionsAt(visitor, 'factor/passkey-options', cookie)
    assert.deepEqual(
      options.allowCredentials?.map(({ id }) => id),
      [authenticator.credentialId],
    )
    const passkey = authenticator.get(options, { flags: flags.UP })
    assert.equal((await prove(visitor, cookie, { passkey })).status, 200)
    assert.equal(await nameOf(visitor), user.name)

    const alone = service.visitor()
    assert.equal((await signInWithPasskey(alone, authenticator)).status, 200)
    assert.equal(await nameOf(alone), user.name)
  })
}

test('of many uses of one response at the same moment one counts, and none later (D29.3)', async () => {
  const { authenticator } = await newOwner()
  const passkey = authenticator.get(await optionsAt(service.visitor(), 'passkey/options'))
  const answers = await Promise.all([1, 2, 3].map(() => service.visitor().post('auth/passkey', { passkey })))
  assert.deepEqual(
    answers.map(({ status }) => status).sort((a, b) => a - b),
    [200, 401, 401],
  )
  assert.deepEqual(refusal(await service.visitor().post('auth/passkey', { passkey })), [401, 'passkey-refused'])
})

test('an authenticator without a counter is accepted again and again, each response once (D29.4)', async () => {
  const user = await newUser(service, admin)
  const { authenticator } = await addPasskey(
    user.visitor,
    new SoftwareAuthenticator(new URL(service.base).origin, { counts: false }),
  )
  for (let count = 0; count < 3; count++)
    assert.equal((await signInWithPasskey(service.visitor(), authenticator)).status, 200)
})

test('a counter that stands still or goes back is refused and recorded (D29.4)', async () => {
  const { authenticator, userId } = await newOwner()
  assert.equal((await signInWithPasskey(service.visitor(), authenticator)).status, 200)
  for (const counter of [2, 1, 0]) {
    const passkey = authenticator.get(await optionsAt(service.visitor(), 'passkey/options'), { counter })
    assert.deepEqual(refusal(await service.visitor().post('auth/passkey', { passkey })), [401, 'passkey-refused'])
  }
  assert.equal(await recorded(userId, 'passkey-counter-mismatch'), 3)
  assert.equal((await signInWithPasskey(service.visitor(), authenticator)).status, 200)
})

test('a challenge is good for its user, its purpose and five minutes only (D29.3)', async () => {
  const [anna, bea] = [await newOwner(), await newOwner()]
  const [cookie, other] = [await firstStep(anna), await firstStep(bea)]
  const refusedBy = async (options: { challenge: string; rpId?: string }): Promise<void> => {
    const passkey = anna.authenticator.get(options)
    assert.deepEqual(refusal(await prove(service.visitor(), cookie, { passkey })), [403, 'second-factor-wrong'])
  }
  await refusedBy(await optionsAt(service.visitor(), 'factor/passkey-options', other))
  await refusedBy(await optionsAt(service.visitor(), 'passkey/options'))
  const creation = await optionsAt(anna.visitor, 'passkeys/options')
  await refusedBy({ challenge: creation.challenge, rpId: creation.rp.id })
  await admin.delete(`management/lockouts?user=${anna.name}`)
  const own = await optionsAt(service.visitor(), 'factor/passkey-options', cookie)
  const alone = await service.visitor().post('auth/passkey', { passkey: anna.authenticator.get(own) })
  assert.deepEqual(refusal(alone), [401, 'passkey-refused'], 'a challenge for the second step is none for a sign-in')
  const late = await optionsAt(service.visitor(), 'passkey/options')
  system.pass(300_000)
  const expired = await service.visitor().post('auth/passkey', { passkey: anna.authenticator.get(late) })
  assert.deepEqual(refusal(expired), [401, 'passkey-refused'])
})

test('an unknown passkey and a wrong one get the same answer, and only failures of a user count for them (D29.5)', async () => {
  const { authenticator, userId } = await newOwner()
  const stranger = new SoftwareAuthenticator(new URL(service.base).origin)
  const options = () => optionsAt(service.visitor(), 'passkey/options')
  const post = (passkey: unknown) => service.visitor().post('auth/passkey', { passkey })
  const unknown = await post(stranger.get(await options()))
  const wrong = await post(authenticator.get(await options(), { signedBy: stranger }))
  const { instance: _one, correlation: _c, ...first } = unknown.json()
  const { instance: _two, correlation: _d, ...second } = wrong.json()
  assert.deepEqual(first, second)
  assert.equal(await recorded(userId, 'login-failed'), 1)
})

test('refused as a sign-in with a passkey alone (D29.5)', async () => {
  const { authenticator, name } = await newOwner()
  const other = await newOwner()
  const forged = {
    'without user verification': { flags: flags.UP },
    'without user presence': { flags: flags.UV },
    'from another origin': { origin: 'http://localhost:1' },
    'for another host': { rpId: 'evil.example' },
    'in a frame of another site': { crossOrigin: true },
    'with the key of another user': { signedBy: other.authenticator },
  } as const
  for (const [title, change] of Object.entries(forged)) {
    const passkey = authenticator.get(await optionsAt(service.visitor(), 'passkey/options'), change)
    const answer = await service.visitor().post('auth/passkey', { passkey })
    assert.deepEqual(refusal(answer), [401, 'passkey-refused'], title)
    assert.equal(answer.headers['set-cookie'], undefined)
    assert.equal((await signInWithPasskey(service.visitor(), authenticator)).status, 200, 'clears the count')
  }
  const good = authenticator.get(await optionsAt(service.visitor(), 'passkey/options'))
  for (const userHandle of [undefined, null, '', 'AAAA', Buffer.from(other.userId).toString('base64url')]) {
    const passkey = { ...good, response: { ...good.response, userHandle } }
    assert.deepEqual(refusal(await service.visitor().post('auth/passkey', { passkey })), [401, 'passkey-refused'])
    await admin.delete(`management/lockouts?user=${name}`)
  }
  const swapped = { ...good, id: other.authenticator.credentialId }
  assert.deepEqual(refusal(await service.visitor().post('auth/passkey', { passkey: swapped })), [
    401,
    'passkey-refused',
  ])
  for (const body of [
    {},
    { passkey: null },
    { passkey: 'x' },
    { passkey: { id: 7 } },
    { passkey: good, auth_maxage: 0 },
  ])
    assert.deepEqual(refusal(await service.visitor().post('auth/passkey', body)), [400, 'invalid-json'])
})

test('a passkey belongs to one user, and its owner cannot add it twice (D29.2)', async () => {
  const [anna, bea] = [await newOwner(), await newUser(service, admin)]
  const options = await optionsAt(anna.visitor, 'passkeys/options')
  assert.deepEqual(
    options.excludeCredentials.map(({ id }) => id),
    [anna.authenticator.credentialId],
  )
  const again = await sendRegistration(anna.visitor, anna.authenticator.create(options))
  assert.deepEqual(refusal(again), [409, 'conflict'])
  const theft = anna.authenticator.create(await optionsAt(bea.visitor, 'passkeys/options'))
  assert.deepEqual(refusal(await sendRegistration(bea.visitor, theft)), [409, 'conflict'])
  const [carl, dora] = [await newUser(service, admin), await newUser(service, admin)]
  const shared = newAuthenticator(carl.visitor)
  const offers = await Promise.all([carl, dora].map(({ visitor }) => optionsAt(visitor, 'passkeys/options')))
  const answers = await Promise.all(
    [carl, dora].map(({ visitor }, index) => {
      const options = offers[index]
      assert.ok(options)
      return sendRegistration(visitor, shared.create(options))
    }),
  )
  assert.deepEqual(
    answers.map(({ status }) => status).sort((a, b) => a - b),
    [201, 409],
  )
})

test('a registration counts for the session that began it, once, and only with a name (D29.2)', async () => {
  const [anna, bea] = [await newUser(service, admin), await newUser(service, admin)]
  const options = await optionsAt(anna.visitor, 'passkeys/options')
  const authenticator = newAuthenticator(anna.visitor)
  const credential = authenticator.create(options)
  assert.deepEqual(refusal(await sendRegistration(bea.visitor, credential)), [400, 'invalid-passkey'])
  const elsewhere = service.visitor()
  assert.equal((await elsewhere.signIn(anna.name, anna.password)).status, 200)
  assert.deepEqual(refusal(await sendRegistration(elsewhere, credential)), [400, 'invalid-passkey'])
  const tooLong = await sendRegistration(anna.visitor, authenticator.create(options), 'x'.repeat(101))
  assert.deepEqual(refusal(tooLong), [400, 'invalid-value'])
  const next = await optionsAt(anna.visitor, 'passkeys/options')
  assert.equal((await sendRegistration(anna.visitor, authenticator.create(next))).status, 201)
  const replayed = newAuthenticator(anna.visitor).create(next)
  assert.deepEqual(refusal(await sendRegistration(anna.visitor, replayed)), [400, 'invalid-passkey'])
  const stranger = service.visitor()
  assert.deepEqual(refusal(await sendRegistration(stranger, credential)), [401, 'not-signed-in'])
  assert.deepEqual(refusal(await stranger.post('auth/passkeys/options')), [401, 'not-signed-in'])
  assert.deepEqual(refusal(await stranger.post('auth/factor/passkey-options')), [401, 'sign-in-expired'])
})

test('a removed passkey ends with the next request, a renamed one works on (D29.2)', async () => {
  const { authenticator, id, visitor } = await newOwner()
  const renamed = await visitor.ask(`auth/factors/${id}`, { method: 'PATCH', json: { name: 'Old key' } })
  assert.equal(renamed.status, 204)
  assert.equal((await signInWithPasskey(service.visitor(), authenticator)).status, 200)
  const passkey = authenticator.get(await optionsAt(service.visitor(), 'passkey/options'))
  assert.equal((await visitor.delete(`auth/factors/${id}`)).status, 204)
  assert.deepEqual(refusal(await service.visitor().post('auth/passkey', { passkey })), [401, 'passkey-refused'])
})

test('a passkey is a fresh proof for the session that asked, and only there (D28.6)', async () => {
  const { authenticator, visitor, id } = await newOwner()
  const other = service.visitor()
  assert.equal((await signInWithPasskey(other, authenticator)).status, 200)
  system.pass(300_001)
  assert.deepEqual(refusal(await visitor.delete(`auth/factors/${id}`)), [403, 'fresh-sign-in-required'])
  assert.deepEqual(refusal(await visitor.post('auth/passkeys/options')), [403, 'fresh-sign-in-required'])
  const ofOther = authenticator.get(await optionsAt(other, 'fresh/passkey-options'))
  assert.deepEqual(refusal(await visitor.post('auth/fresh', { passkey: ofOther })), [403, 'second-factor-wrong'])
  const passkey = authenticator.get(await optionsAt(visitor, 'fresh/passkey-options'))
  assert.equal((await visitor.post('auth/fresh', { passkey })).status, 204)
  assert.deepEqual(refusal(await other.delete(`auth/factors/${id}`)), [403, 'fresh-sign-in-required'])
  assert.equal((await visitor.delete(`auth/factors/${id}`)).status, 204)
})

test('a sign-in that waits in the same browser does not disturb a new proof in the session (D28.6)', async () => {
  const [anna, bea] = [await newOwner(), await newOwner()]
  const waiting = await firstStep(bea)
  const cookie = `auth_token=${anna.visitor.cookie ?? ''}; ${waiting}`
  const passkey = anna.authenticator.get(await optionsAt(service.visitor(), 'fresh/passkey-options', cookie))
  const proven = await service.visitor().ask('auth/fresh', { method: 'POST', json: { passkey }, headers: { cookie } })
  assert.equal(proven.status, 204, proven.text)
  assert.equal((await service.visitor().post('auth/fresh/passkey-options')).status, 401)
})

test('wrong passkeys lock the user out as wrong passwords do, and a lock stops the right passkey (D29.5)', async () => {
  const user = await newOwner()
  const stranger = new SoftwareAuthenticator(new URL(service.base).origin)
  await guess(service.visitor(), user.name, 3)
  for (let count = 0; count < 2; count++) {
    const options = await optionsAt(service.visitor(), 'passkey/options')
    await service.visitor().post('auth/passkey', { passkey: user.authenticator.get(options, { signedBy: stranger }) })
  }
  assert.deepEqual(refusal(await signInWithPasskey(service.visitor(), user.authenticator)), [429, 'locked-out'])
  assert.equal((await service.visitor().signIn(user.name, user.password)).status, 429)
  system.pass(300_001)
  assert.equal((await signInWithPasskey(service.visitor(), user.authenticator)).status, 200)
})

test('no sign-in with a passkey alone for disabled users, and for those who may not use a password (D29.6)', async () => {
  const disabled = await newOwner()
  await admin.put(userPath(disabled.userId), { disabled: true })
  assert.deepEqual(refusal(await signInWithPasskey(service.visitor(), disabled.authenticator)), [
    403,
    'account-disabled',
  ])
  const provided = await newOwner()
  await admin.put(userPath(provided.userId), { name: 'provided@example.org' })
  const answer = await signInWithPasskey(service.visitor(), provided.authenticator)
  assert.deepEqual(refusal(answer), [403, 'passkey-login-off'])
  assert.equal(answer.headers['set-cookie'], undefined)
  const withoutPassword = await newOwner()
  const database = await openStore({ after }, service)
  await database.run(sql`UPDATE principals SET password = NULL WHERE id = ${withoutPassword.userId}`)
  const lacking = await signInWithPasskey(service.visitor(), withoutPassword.authenticator)
  assert.deepEqual(refusal(lacking), [403, 'passkey-login-off'])
})

test('a passkey outlives a new password, and a deleted user leaves none (D29.2)', async () => {
  const { userId, authenticator } = await newOwner()
  assert.equal((await admin.put(userPath(userId), { password: NEXT_PASSWORD })).status, 204)
  assert.equal((await signInWithPasskey(service.visitor(), authenticator)).status, 200)
  assert.equal((await admin.delete(`_principals/entry/${userId}`)).status, 204)
  assert.deepEqual(refusal(await signInWithPasskey(service.visitor(), authenticator)), [401, 'passkey-refused'])
})

test('user handles name no user, and differ between services on one host (D29.7)', async () => {
  const owner = await newOwner()
  const { user } = await optionsAt(owner.visitor, 'passkeys/options')
  assert.equal(user.name, owner.name)
  const handle = Buffer.from(user.id, 'base64url').toString()
  assert.equal(Buffer.from(user.id, 'base64url').length, 32)
  assert.ok(!handle.includes(owner.name) && handle !== owner.userId)
  const neighbour = await startInProcess({ after }, { settings: await passkeySettings() })
  const root = await neighbour.admin()
  const [here, there] = [await optionsAt(admin, 'passkeys/options'), await optionsAt(root, 'passkeys/options')]
  assert.notEqual(here.user.id, there.user.id)
})

test('passkeys are offered as far as the setting goes, and only where browsers have them (D29.7)', async () => {
  const only = await startInProcess(
    { after },
    { settings: { ...(await passkeySettings()), 'service.auth.passkeys': 'factor' } },
  )
  const user = await newUser(only, await only.admin())
  const { authenticator } = await addPasskey(user.visitor)
  assert.equal((await only.visitor().post('auth/passkey/options')).status, 404)
  assert.equal((await only.visitor().post('auth/passkey', { passkey: {} })).status, 404)
  const cookie = pendingCookie(await only.visitor().signIn(user.name, user.password))
  const passkey = authenticator.get(await optionsAt(only.visitor(), 'factor/passkey-options', cookie))
  assert.equal((await prove(only.visitor(), cookie, { passkey })).status, 200)
  const nameless = await startInProcess({ after })
  assert.equal((await (await nameless.admin()).post('auth/passkeys/options')).status, 404)
})
