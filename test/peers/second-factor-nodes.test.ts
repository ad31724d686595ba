import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { codeOf } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { type Answer, Visitor } from '../support/http-client.ts'
import { addPasskey, optionsAt, passkeySettings } from '../support/passkeys.ts'
import { freePort } from '../support/peers/peer-process.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { postgres, postgresDatabase } from '../support/peers/postgres.ts'
import { redis, startRedis } from '../support/peers/redis.ts'
import { addApp, pendingCookie, prove, signInWith } from '../support/second-factors.ts'
import { type InProcess, newUser, startInProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const refusal = (answer: Answer): readonly unknown[] => [answer.status, codeOf(answer)]

interface Nodes {
  readonly one: InProcess
  /** Visitors of both nodes, past the address that both are known by. */
  readonly atOne: () => Visitor
  readonly atOther: () => Visitor
  readonly admin: Visitor
  readonly pass: (time: number) => void
}

/** Two nodes with common rows in PostgreSQL, and common logins and counters in Redis. */
async function start(): Promise<Nodes> {
  const [folder, url, server] = [await temporaryFolder(), await postgresDatabase(), await startRedis({ after })]
  const settings: Readonly<Record<string, string>> = {
    ...(await passkeySettings()),
    'service.repository.store.url': url,
    'service.cluster.redis.url': server.url,
    'service.auth.token.store': 'redis',
    'service.auth.token.key-file': join(folder, 'token.key'),
  }
  const port = String(await freePort())
  const one = await startInProcess({ after }, { folder, settings })
  const other = await startInProcess({ after }, { folder, settings: { ...settings, 'service.http.port': port } })
  const at = (own: string) => () => new Visitor(`http://localhost:${own}/`)
  const [atOne, atOther] = [at(settings['service.http.port'] ?? ''), at(port)]
  const pass = (time: number): void => {
    one.system.pass(time)
    other.system.pass(time)
  }
  return { one, atOne, atOther, admin: await one.admin(), pass }
}

const shared = [postgres, redis].every(peer => peer.available()) ? await start() : undefined

function nodes(): Nodes {
  assert.ok(shared)
  return shared
}

async function newGuarded() {
  const { one, admin, pass } = nodes()
  const user = await newUser(one, admin)
  // Both clocks have to move.
  const added = await addApp(user.visitor, { now: () => one.system.now(), pass })
  return { ...user, ...added }
}

const requireNodes = (t: { skip(message: string): void }): boolean =>
  [postgres, redis].every(peer => requirePeer(t, peer))

test('a code that was used on one node is refused on the other, also at the same moment (D28.1)', async t => {
  if (!requireNodes(t)) return
  const { atOne, atOther, pass } = nodes()
  const user = await newGuarded()
  const visitors = [atOne(), atOther(), atOne(), atOther()]
  const cookies = await Promise.all(
    visitors.map(async visitor => pendingCookie(await visitor.signIn(user.name, user.password))),
  )
  const code = user.app.code()
  const answers = await Promise.all(visitors.map((visitor, index) => prove(visitor, cookies[index] ?? '', { code })))
  assert.deepEqual(
    answers.map(({ status }) => status).sort((a, b) => a - b),
    [200, 403, 403, 403],
  )
  pass(30_000)
  const next = user.app.code()
  assert.equal((await signInWith(atOne(), user, next)).status, 200)
  assert.deepEqual(refusal(await signInWith(atOther(), user, next)), [403, 'second-factor-wrong'])
  const [recovery = ''] = user.recoveryCodes
  assert.equal((await signInWith(atOther(), user, recovery)).status, 200)
  assert.deepEqual(refusal(await signInWith(atOne(), user, recovery)), [403, 'second-factor-wrong'])
})

test('a sign-in that began on one node is completed on the other, once (D28.2)', async t => {
  if (!requireNodes(t)) return
  const { atOne, atOther } = nodes()
  const user = await newGuarded()
  const cookie = pendingCookie(await atOne().signIn(user.name, user.password))
  const visitor = atOther()
  assert.equal((await prove(visitor, cookie, { code: user.app.code() })).status, 200)
  assert.equal((await visitor.get('auth/user')).json()['user'], user.name)
  assert.deepEqual(refusal(await prove(atOne(), cookie, { code: user.app.code(1) })), [401, 'sign-in-expired'])
})

test('a factor that is added or removed on one node counts at once on the other (D28.4, D28.8)', async t => {
  if (!requireNodes(t)) return
  const { one, atOther, admin, pass } = nodes()
  const user = await newUser(one, admin)
  const elsewhere = atOther()
  assert.equal((await elsewhere.signIn(user.name, user.password)).status, 200)
  const { app } = await addApp(user.visitor, { now: () => one.system.now(), pass })
  assert.equal((await elsewhere.get('auth/user')).json()['user'], 'guest', 'its session ends')
  const own = atOther()
  own.cookie = user.visitor.cookie
  assert.equal((await own.get('auth/user')).json()['user'], user.name, 'the session that added it goes on')
  const waiting = pendingCookie(await atOther().signIn(user.name, user.password))
  assert.equal((await user.visitor.delete(`auth/factors/${app.id}`)).status, 204)
  assert.deepEqual(refusal(await prove(atOther(), waiting, { code: app.code() })), [401, 'sign-in-expired'])
  assert.equal((await atOther().signIn(user.name, user.password)).status, 200)
})

test('wrong codes on both nodes count together, and a new proof on one is recent on the other (D28.3, D28.6)', async t => {
  if (!requireNodes(t)) return
  const { atOther, admin, pass } = nodes()
  const user = await newGuarded()
  const other = atOther()
  other.cookie = user.visitor.cookie
  pass(300_001)
  assert.deepEqual(refusal(await other.post('auth/recovery-codes')), [403, 'fresh-sign-in-required'])
  assert.equal((await user.visitor.post('auth/fresh', { code: user.app.code() })).status, 204)
  assert.equal((await other.post('auth/recovery-codes')).status, 201)
  for (const visitor of [user.visitor, other, user.visitor, other, user.visitor]) {
    assert.equal((await visitor.post('auth/fresh', { code: user.app.wrongCode() })).status, 403)
  }
  for (const visitor of [user.visitor, other]) {
    assert.deepEqual(refusal(await visitor.post('auth/fresh', { code: user.app.code(1) })), [429, 'locked-out'])
  }
  assert.equal((await admin.delete(`management/lockouts?user=${user.name}`)).status, 204)
  assert.equal((await other.post('auth/fresh', { code: user.app.code(1) })).status, 204)
})

test('a passkey signs in on either node; a response that one has accepted is refused by the other (D29.3)', async t => {
  if (!requireNodes(t)) return
  const { one, atOne, atOther, admin } = nodes()
  const user = await newUser(one, admin)
  const { authenticator, id } = await addPasskey(user.visitor)
  const passkey = authenticator.get(await optionsAt(atOne(), 'passkey/options'))
  const answers = await Promise.all([atOne(), atOther()].map(visitor => visitor.post('auth/passkey', { passkey })))
  assert.deepEqual(
    answers.map(({ status }) => status).sort((a, b) => a - b),
    [200, 401],
  )
  const next = authenticator.get(await optionsAt(atOther(), 'passkey/options'))
  assert.equal((await user.visitor.delete(`auth/factors/${id}`)).status, 204)
  assert.deepEqual(refusal(await atOther().post('auth/passkey', { passkey: next })), [401, 'passkey-refused'])
})
