import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addUser } from '../support/accounts.ts'
import { type Respond, type SamlService, startWithSaml } from '../support/saml-service.ts'

let assertions = 0

/** The status, and the check that failed. */
async function outcome({ browser }: SamlService, name: string, query = '', respond: Respond = {}): Promise<unknown> {
  const someone = browser()
  const sent = await someone.leave(query)
  const form = someone.answerTo(sent, { name, assertionId: `_${++assertions}`, ...respond })
  const answer = await someone.bring(form, new URL(sent.acsUrl).search, { accept: 'application/json' })
  return answer.status === 200 ? answer.json()['user'] : [answer.status, answer.json()['check']]
}

test('unknown users are made when their provider may, else refused (D8.4)', async t => {
  const saml = await startWithSaml(t, { 'service.auth.saml.idp.b.user-auto-provisioning': 'off' }, ['a', 'b'])
  const [, b] = saml.idps
  const byB = b ? { idp: b } : {}
  assert.equal(await outcome(saml, 'Anna@A.example'), 'anna@a.example')
  assert.deepEqual(await outcome(saml, 'bert@b.example', '?idp=b', byB), [401, 'unknown-user'])
  const admin = await saml.service.admin()
  await addUser(admin, 'bert@b.example')
  assert.equal(await outcome(saml, 'BERT@b.example', '?idp=b', byB), 'bert@b.example')
})

test('twenty first logins at once make one user (D8.4)', async t => {
  const saml = await startWithSaml(t)
  const results = await Promise.all(Array.from({ length: 20 }, () => outcome(saml, 'anna@a.example')))
  assert.deepEqual(new Set(results), new Set(['anna@a.example']))
  const admin = await saml.service.admin()
  const { events } = (await admin.get('management/audit?user=anna@a.example')).json<{
    events: Array<{ event: string }>
  }>()
  assert.equal(events.filter(({ event }) => event === 'user-created').length, 1)
})

test('a provider signs in users of its own domains; one without domains, users of unclaimed domains (D8.4)', async t => {
  const saml = await startWithSaml(
    t,
    {
      'service.auth.saml.idp.a.domains.1': 'a.example',
      'service.auth.saml.idp.a.domains.2': 'xn--mller-kva.example',
      'service.auth.saml.idp.b.domains.1': 'b.example',
    },
    ['a', 'b', 'c'],
  )
  const by = (idp: string, name: string) => {
    const found = saml.idps.find(one => one.name === idp)
    return outcome(saml, name, `?idp=${idp}`, found ? { idp: found } : {})
  }
  assert.equal(await by('a', 'anna@a.example'), 'anna@a.example')
  assert.equal(await by('a', 'anna@A.EXAMPLE'), 'anna@a.example')
  assert.equal(await by('a', 'anna@müller.example'), 'anna@müller.example')
  assert.equal(await by('c', 'carl@elsewhere.example'), 'carl@elsewhere.example')
  // A Mac writes letters with accents as two characters (D1.7).
  assert.equal(await by('a', 'Jo\u0308rg@a.example'), 'jörg@a.example')
  assert.equal(await by('a', 'jörg@a.example'), 'jörg@a.example')
  const refusedByDomain: ReadonlyArray<readonly [string, string]> = [
    ['a', 'anna@b.example'],
    ['a', 'anna@sub.a.example'],
    ['a', 'anna@a.example.evil.example'],
    ['a', 'anna@elsewhere.example'],
    ['a', 'anna@\u0430.example'],
    ['c', 'anna@a.example'],
    ['c', 'anna@B.example'],
    ['c', 'anna@xn--mller-kva.example'],
  ]
  for (const [idp, name] of refusedByDomain) assert.deepEqual(await by(idp, name), [401, 'domain'], `${idp} ${name}`)
  for (const name of [
    'anna',
    'anna@',
    '@a.example',
    'anna@b.example@a.example',
    'anna@a.example@b.example',
    'an\u2028na@a.example',
    // Only normalisation makes them equal to the address of a user (D1.7).
    'ann\u200Ba@a.example',
    'anna＠a.example',
    'ａnna@a.example',
    'anna@ａ.example',
    'anna@a.example\u00A0',
    'jo\u0308rg\u200B@a.example',
    'ﬁnn@a.example',
    '\u212Aurt@a.example',
  ]) {
    assert.deepEqual(await by('a', name), [401, 'name'], name)
  }
})

test('a provider can sign in neither admin nor a group, in any spelling (D8.4)', async t => {
  const saml = await startWithSaml(t)
  for (const name of ['admin', 'ADMIN', ' admin ', 'ad\u00ADmin', '\uFF41dmin', 'admi\u200Bn']) {
    assert.deepEqual(await outcome(saml, name), [401, 'reserved-user'], JSON.stringify(name))
  }
  for (const name of ['_admin', 'guest', '_guest', 'users', 'admins']) {
    assert.deepEqual(await outcome(saml, name), [401, 'name'], name)
  }
  const admin = await saml.service.admin()
  const made = await admin.post('_principals?graphtype=group', { resource: { name: 'group@a.example' } })
  assert.equal(made.status, 201, made.text)
  assert.deepEqual(await outcome(saml, 'group@a.example'), [401, 'unknown-user'])
})

test('a disabled user cannot sign in (D8.4)', async t => {
  const saml = await startWithSaml(t)
  const admin = await saml.service.admin()
  const { id } = await addUser(admin, 'anna@a.example')
  assert.equal((await admin.put(`_principals/resource/${id}`, { disabled: true })).status, 204)
  assert.deepEqual(await outcome(saml, 'anna@a.example'), [401, 'account-disabled'])
})

test('a user with a session is switched to the user that the provider names', async t => {
  const { service, browser } = await startWithSaml(t)
  const admin = await service.admin()
  const { name } = await addUser(admin, 'bert@a.example')
  const someone = browser()
  await someone.signIn(name, 'Good-Password-12')
  const before = someone.cookie
  assert.equal((await someone.signInBy('anna@a.example')).status, 200)
  assert.equal(await someone.whoAmI(), 'anna@a.example')
  assert.notEqual(someone.cookie, before)
})
