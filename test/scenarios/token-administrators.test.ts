import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addUserWithoutPassword, codeOf, GOOD_PASSWORD, userPath } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { graphOf, principal, readEntry, STORE, TITLE, textTerm } from '../support/content.ts'
import type { Answer } from '../support/http-client.ts'
import { newContext, newUser, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const expires = new Date(service.system.now() + 86_400_000).toISOString()
const created = await admin.post('auth/access-tokens', { name: 'provisioning', expires, scopes: ['admin'] })
const { token } = created.json<{ token: string }>()
const byToken = (method: string, path: string, json?: unknown): Promise<Answer> =>
  service.visitor().ask(path, { method, json, headers: { authorization: `Bearer ${token}` } })
const anna = await newUser(service, admin)

async function assertOutOfScope(method: string, path: string, json?: unknown): Promise<void> {
  const answer = await byToken(method, path, json)
  assert.deepEqual([answer.status, codeOf(answer)], [403, 'access-token-scope'], `${method} ${path}: ${answer.text}`)
}

async function newGroup(name: string): Promise<string> {
  const answer = await admin.post('_principals?graphtype=group', { resource: { name } })
  assert.equal(answer.status, 201, answer.text)
  return answer.json<{ entryId: string }>().entryId
}

/** Info of an entry in which this user or group may write to the resource (`resource`) or administer the entry (`entry`). */
const granting = (path: string, to: string, half: 'resource' | 'entry') =>
  graphOf(`${admin.base}${path.replace('/entry/', `/${half}/`)}`, `${STORE}write`, principal(admin, to))

test('no token changes an access list that decides about users and groups, by any door (D24.5)', async () => {
  const group = await newGroup('readers')
  const list = await admin.post('_principals?graphtype=list')
  const { entryId: listId } = list.json<{ entryId: string }>()
  assert.equal((await admin.put(`_principals/resource/${listId}`, [anna.id])).status, 204)
  const entries = ['_contexts/entry/_contexts', '_contexts/entry/_principals', '_principals/entry/_admin']
  const inPrincipals = [anna.id, group, listId].map(id => `_principals/entry/${id}`)
  for (const path of [...entries, ...inPrincipals]) {
    for (const half of ['resource', 'entry'] as const)
      await assertOutOfScope('PUT', path, granting(path, anna.id, half))
    if (!path.endsWith(`/${listId}`)) await assertOutOfScope('PUT', path, {})
  }
  const path = `_principals/entry/${listId}`
  await assertOutOfScope('PUT', `${path}?applyACLtoChildren`, granting(path, anna.id, 'entry'))
  // The list itself keeps its access list, its members do not.
  await assertOutOfScope('PUT', `${path}?applyACLtoChildren`, {})
  // The rest of the info may change, and so may access lists of other contexts.
  const same = await readEntry(admin, '_principals', anna.id)
  const noted = {
    ...same.info,
    [`${admin.base}_principals/resource/${anna.id}`]: {
      ...same.info[`${admin.base}_principals/resource/${anna.id}`],
      [TITLE]: [textTerm('noted')],
    },
  }
  const answer = await byToken('PUT', `_principals/entry/${anna.id}`, noted)
  assert.equal(answer.status, 204, answer.text)
  const context = await newContext(admin)
  const own = `_contexts/entry/${context}`
  assert.equal((await byToken('PUT', own, granting(own, anna.id, 'entry'))).status, 204)
})

test('a token creates users, but none with a password (D24.5)', async () => {
  for (const more of [{}, { temporaryPassword: true }, { disabled: true }])
    await assertOutOfScope('POST', '_principals?graphtype=user', {
      resource: { name: 'accomplice', password: GOOD_PASSWORD, ...more },
    })
  const answer = await byToken('POST', '_principals?graphtype=user', { resource: { name: 'colleague' } })
  assert.equal(answer.status, 201, answer.text)
})

test('no token changes a group that can make administrators, also by way of another group (D24.5)', async () => {
  const bert = await newUser(service, admin)
  const managers = await newGroup('managers')
  const above = await newGroup('above-managers')
  const ordinary = await newGroup('ordinary')
  for (const group of [managers, above, ordinary])
    assert.equal((await byToken('PUT', `_principals/resource/${group}`, [anna.id])).status, 204)
  const give = async (path: string, to: string, half: 'resource' | 'entry'): Promise<void> => {
    const answer = await admin.put(path, granting(path, to, half))
    assert.equal(answer.status, 204, answer.text)
  }
  await give('_contexts/entry/_principals', managers, 'entry')
  await give(`_principals/entry/${managers}`, above, 'resource')
  for (const group of [managers, above]) {
    await assertOutOfScope('PUT', `_principals/resource/${group}`, [anna.id, bert.id])
    await assertOutOfScope('PUT', `_principals/entry/${group}/name`, { name: `sso-students-${group}` })
    const uri = encodeURIComponent(`${service.base}_principals/entry/${group}`)
    await assertOutOfScope('POST', `_principals?graphtype=user&groupURI=${uri}`, { resource: { name: 'accomplice' } })
  }
  assert.equal((await byToken('PUT', `_principals/resource/${ordinary}`, [anna.id, bert.id])).status, 204)
  assert.equal((await byToken('PUT', `_principals/entry/${ordinary}/name`, { name: 'plain' })).status, 204)
  await give('_contexts/entry/_contexts', above, 'entry')
  await give('_contexts/entry/_principals', bert.id, 'resource')
  await assertOutOfScope('PUT', `_principals/resource/${above}`, [anna.id, bert.id])
})

test('no token enables an administrator or lifts a lockout (D24.5)', async () => {
  const former = await addUserWithoutPassword(admin, 'former')
  const usual = await addUserWithoutPassword(admin, 'usual')
  assert.equal((await admin.put('_principals/resource/_admins', [former.id])).status, 204)
  for (const { id } of [former, usual])
    assert.equal((await byToken('PUT', userPath(id), { disabled: true })).status, 204)
  await assertOutOfScope('PUT', userPath(former.id), { disabled: false })
  assert.equal((await byToken('PUT', userPath(usual.id), { disabled: false })).status, 204)
  await assertOutOfScope('DELETE', 'management/lockouts?user=usual')
})
