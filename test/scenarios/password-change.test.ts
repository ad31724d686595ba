import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addUser, codeOf, GOOD_PASSWORD, guess, NEXT_PASSWORD, userPath, WRONG_PASSWORD } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import type { Answer, Visitor } from '../support/http-client.ts'
import { ADMIN_PASSWORD, type InProcess, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()

async function signedIn(service: InProcess, name: string, password = GOOD_PASSWORD): Promise<Visitor> {
  const visitor = service.visitor()
  const answer = await visitor.signIn(name, password)
  assert.equal(answer.status, 200, answer.text)
  return visitor
}

const outcome = (answer: Answer): unknown[] => (answer.status === 204 ? [204] : [answer.status, codeOf(answer)])

test('rights to change a password, with and without the current one (I5.7, D5.3, I2.5)', async t => {
  for (const required of ['on', 'off']) {
    const own = await startInProcess(t, {
      settings: { 'service.auth.password.require-current-password': required },
    })
    const operator = await own.admin()
    const ids = new Map<string, string>()
    for (const name of ['self', 'other', 'deputy', 'target']) ids.set(name, (await addUser(operator, name)).id)
    ids.set('admin', '_admin')
    await operator.put('_principals/resource/_admins', [ids.get('deputy')])
    const isNeeded = required === 'on'
    const missing = isNeeded ? [403, 'current-password-required'] : [204]
    const wrong = isNeeded ? [403, 'current-password-wrong'] : [204]
    const rows = [
      ['self', 'self', undefined, missing],
      ['self', 'self', '', missing],
      ['self', 'self', WRONG_PASSWORD, wrong],
      ['self', 'self', 'present', [204]],
      ['deputy', 'deputy', undefined, missing],
      ['deputy', 'deputy', 'present', [204]],
      ['admin', 'admin', undefined, missing],
      ['admin', 'admin', 'present', [204]],
      ['admin', 'target', undefined, [204]],
      ['admin', 'target', WRONG_PASSWORD, [204]],
      ['deputy', 'target', undefined, [204]],
      ['deputy', 'admin', undefined, [204]],
      ['other', 'target', undefined, [403, 'not-allowed']],
      ['other', 'target', 'present', [403, 'not-allowed']],
      ['other', 'admin', 'present', [403, 'not-allowed']],
      ['guest', 'target', undefined, [401, 'not-signed-in']],
      ['guest', 'target', 'present', [401, 'not-signed-in']],
      ['admin', '_guest', undefined, [403, 'not-allowed']],
    ] as const
    const passwords = new Map([...ids.keys()].map(name => [name, name === 'admin' ? ADMIN_PASSWORD : GOOD_PASSWORD]))
    for (const [index, [actor, target, current, expected]] of rows.entries()) {
      const visitor = actor === 'guest' ? own.visitor() : await signedIn(own, actor, passwords.get(actor))
      const currentPassword = current === 'present' ? passwords.get(target) : current
      const password = `Fresh-Password-${index}`
      const answer = await visitor.put(userPath(ids.get(target) ?? target), { password, currentPassword })
      const row = `require-current-password=${required}: ${actor} changes ${target} with ${current}`
      assert.deepEqual(outcome(answer), expected, row)
      const holds = answer.status === 204 ? password : passwords.get(target)
      if (holds === undefined) continue
      await signedIn(own, target, holds)
      passwords.set(target, holds)
    }
    await own.close()
  }
})

test('require-current-password is on by default (D5.3)', async () => {
  const { id } = await addUser(admin, 'default')
  const answer = await (await signedIn(service, 'default')).put(userPath(id), { password: NEXT_PASSWORD })
  assert.deepEqual(outcome(answer), [403, 'current-password-required'])
})

test('a guest and a stranger learn nothing and count nothing, right or wrong (D5.3)', async () => {
  const { id } = await addUser(admin, 'guarded')
  await addUser(admin, 'stranger')
  const stranger = await signedIn(service, 'stranger')
  for (const visitor of [service.visitor(), stranger]) {
    const answers = []
    for (let count = 0; count < 8; count++) {
      const currentPassword = count % 2 === 0 ? GOOD_PASSWORD : WRONG_PASSWORD
      answers.push(await visitor.put(userPath(id), { password: NEXT_PASSWORD, currentPassword }))
    }
    assert.equal(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, 1)
  }
  assert.deepEqual(await guess(service.visitor(), 'guarded', 4), [401, 401, 401, 401])
  await signedIn(service, 'guarded')
})

test('an account that others may write to is not theirs: its password is refused them (D5.3)', async () => {
  const { id } = await addUser(admin, 'open')
  const friend = await addUser(admin, 'friend')
  const entry = `${service.base}_principals/entry/${id}`
  const write = [{ type: 'uri', value: `${service.base}_principals/resource/${friend.id}` }]
  const resource = `${service.base}_principals/resource/${id}`
  const info = { [entry]: {}, [resource]: { 'http://entrystore.org/terms/write': write } }
  assert.equal((await admin.put(`_principals/entry/${id}`, info)).status, 204)
  const visitor = await signedIn(service, 'friend')
  assert.equal((await visitor.put(userPath(id), { language: 'sv' })).status, 204, 'the grant works')
  for (const currentPassword of [GOOD_PASSWORD, WRONG_PASSWORD]) {
    const answer = await visitor.put(userPath(id), { password: NEXT_PASSWORD, currentPassword })
    assert.deepEqual(outcome(answer), [403, 'not-allowed'])
  }
  await signedIn(service, 'open')
})

test('after users change their own password, their other sessions end and the current one continues (D5.3)', async () => {
  const { id } = await addUser(admin, 'sessions')
  const [own, other] = [await signedIn(service, 'sessions'), await signedIn(service, 'sessions')]
  const change = { password: NEXT_PASSWORD, currentPassword: GOOD_PASSWORD }
  assert.equal((await own.put(userPath(id), change)).status, 204)
  assert.equal((await own.get('auth/user')).json()['user'], 'sessions')
  assert.deepEqual(Object.keys((await own.get('auth/tokens')).json()), [own.cookie])
  assert.equal((await other.get('auth/user')).json()['user'], 'guest')
  assert.equal((await service.visitor().signIn('sessions', GOOD_PASSWORD)).status, 401)
})

test("after an administrator's change all sessions of the user end, the administrator's own does not (D5.3)", async () => {
  const { id } = await addUser(admin, 'ended')
  const visitors = [await signedIn(service, 'ended'), await signedIn(service, 'ended')]
  assert.equal((await admin.put(userPath(id), { password: NEXT_PASSWORD })).status, 204)
  for (const visitor of visitors) assert.equal((await visitor.get('auth/user')).json()['user'], 'guest')
  assert.equal((await admin.get('auth/user')).json()['user'], 'admin')
})

test('a change that is refused ends no session (D1.5)', async () => {
  const { id } = await addUser(admin, 'kept')
  const visitor = await signedIn(service, 'kept')
  await visitor.put(userPath(id), { password: NEXT_PASSWORD, currentPassword: WRONG_PASSWORD })
  await visitor.put(userPath(id), { password: 'weak', currentPassword: GOOD_PASSWORD })
  await admin.put(userPath(id), { password: 'weak' })
  assert.equal((await visitor.get('auth/user')).json()['user'], 'kept')
})

test('of changes with the same current password at once exactly one is made (D5.3)', async () => {
  const { id } = await addUser(admin, 'racing')
  const visitors = await Promise.all([0, 1, 2, 3].map(() => signedIn(service, 'racing')))
  const answers = await Promise.all(
    visitors.map((visitor, index) =>
      visitor.put(userPath(id), { password: `Racing-Password-${index}`, currentPassword: GOOD_PASSWORD }),
    ),
  )
  const statuses = answers.map(({ status }) => status)
  assert.equal(statuses.filter(status => status === 204).length, 1, statuses.join(', '))
  const winner = statuses.indexOf(204)
  await signedIn(service, 'racing', `Racing-Password-${winner}`)
  for (const [index, visitor] of visitors.entries()) {
    assert.equal((await visitor.get('auth/user')).json()['user'], index === winner ? 'racing' : 'guest')
  }
})
