import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addUser, codeOf, GOOD_PASSWORD } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import type { Visitor } from '../support/http-client.ts'
import { startInProcess } from '../support/service.ts'

const service = await startInProcess({ after }, { settings: { 'service.data.quota': 'on' } })
const admin = await service.admin()

async function newGroup(name: string): Promise<string> {
  const created = await admin.post('_principals?graphtype=group', { resource: { name } })
  return created.json<{ entryId: string }>().entryId
}

/** How many users and contexts there are. */
async function counts(visitor: Visitor): Promise<readonly number[]> {
  const paths = ['management/users', 'management/contexts']
  return await Promise.all(paths.map(async path => (await visitor.get(path)).json<{ results: number }>().results))
}

test('one request creates a user with password, profile, groups and a context with a quota', async () => {
  const groups = [await newGroup('divers'), await newGroup('readers')]
  const created = await admin.post('management/users', {
    name: 'Anna@example.org',
    password: GOOD_PASSWORD,
    fullName: 'Anna Ask',
    email: 'anna@home.example',
    groups,
    space: { quota: 5000 },
  })
  assert.equal(created.status, 201, created.text)
  const { id, homecontext } = created.json<{ id: string; homecontext: string }>()

  const listed = (await admin.get('management/users?query=anna@example.org')).json<{ users: readonly unknown[] }>()
  assert.partialDeepStrictEqual(listed.users, [
    { id, name: 'anna@example.org', homecontext, fullName: 'Anna Ask', email: 'anna@home.example', hasPassword: true },
  ])
  const anna = service.visitor()
  assert.equal((await anna.signIn('anna@example.org', GOOD_PASSWORD)).status, 200)
  const { contexts } = (await anna.get('auth/user/contexts')).json<{ contexts: readonly object[] }>()
  assert.partialDeepStrictEqual(contexts, [{ contextId: homecontext, rights: ['administer'], quota: { quota: 5000 } }])
  assert.match(JSON.stringify(contexts), /Anna Ask/)
  for (const group of groups) {
    const { children } = (await admin.get(`_principals/resource/${group}`)).json<{ children: readonly object[] }>()
    assert.partialDeepStrictEqual(children, [{ entryId: id }])
  }
  const { events } = (await admin.get('management/audit?limit=5')).json<{ events: ReadonlyArray<{ event: string }> }>()
  assert.deepEqual(events.map(({ event }) => event).sort(), [
    'context-created',
    'login',
    'members-changed',
    'members-changed',
    'user-created',
  ])
})

test('a user that cannot be created as a whole leaves nothing behind', async () => {
  await addUser(admin, 'taken')
  const group = await newGroup('swimmers')
  const before = await counts(admin)
  const whole = { name: 'bo', groups: [group], space: {} }
  for (const [changed, status, code] of [
    [{ groups: [group, '_users'] }, 400, 'invalid-member'],
    [{ groups: [group, 'nothing'] }, 400, 'invalid-member'],
    [{ space: { quota: -2 } }, 400, 'invalid-json'],
    [{ space: { quota: 2 ** 60 } }, 400, 'invalid-json'],
    [{ name: 'taken' }, 409, 'name-taken'],
    [{ email: 'no address' }, 400, 'invalid-value'],
    [{ password: 'short' }, 400, 'password-rules'],
    [{ temporaryPassword: true }, 400, 'invalid-value'],
  ] as const) {
    const refused = await admin.post('management/users', { ...whole, ...changed })
    assert.deepEqual([refused.status, codeOf(refused)], [status, code], JSON.stringify(changed))
  }
  assert.deepEqual(await counts(admin), before)
  const { children } = (await admin.get(`_principals/resource/${group}`)).json<{ children: readonly object[] }>()
  assert.equal(children.length, 0)
  assert.equal((await admin.post('management/users', whole)).status, 201)
})

test('only administrators create users, and without quotas only spaces without one', async t => {
  const user = await addUser(admin, 'cid')
  const visitor = service.visitor()
  await visitor.signIn(user.name, GOOD_PASSWORD)
  assert.equal((await visitor.post('management/users', { name: 'dora' })).status, 403)
  assert.equal((await service.visitor().post('management/users', { name: 'dora' })).status, 401)

  const free = await startInProcess(t)
  const boss = await free.admin()
  const before = await counts(boss)
  const refused = await boss.post('management/users', { name: 'dora', space: { quota: 5 } })
  assert.deepEqual([refused.status, codeOf(refused)], [501, 'quota-not-supported'])
  assert.deepEqual(await counts(boss), before)
  const { homecontext } = (await boss.post('management/users', { name: 'dora' })).json<{ homecontext?: string }>()
  assert.equal(homecontext, undefined)
})
