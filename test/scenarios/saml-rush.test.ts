import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addUser } from '../support/accounts.ts'
import { edit, keyNamed } from '../support/saml-idp.ts'
import { startWithSaml } from '../support/saml-service.ts'

const VALUE =
  '<saml:AttributeValue xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="xs:string">'

/** The groups of a user as Active Directory names them. */
const withGroups =
  (count: number) =>
  (xml: string): string =>
    edit(
      xml,
      '</saml:AttributeStatement>',
      `<saml:Attribute Name="groups">${Array.from({ length: count }, (_, n) => `${VALUE}CN=Group ${n},OU=Groups,DC=a</saml:AttributeValue>`).join('')}</saml:Attribute></saml:AttributeStatement>`,
    )

test('200 users in 300 groups each sign on at the same moment (D8.3, D19.3)', async t => {
  const saml = await startWithSaml(t)
  const logins = await Promise.all(
    Array.from({ length: 200 }, async (_, n) => {
      const browser = saml.browser()
      const sent = await browser.leave()
      const about = { name: `user${n}@a.example`, assertionId: `_assertion${n}`, edit: withGroups(300) }
      return { browser, form: browser.answerTo(sent, about) }
    }),
  )
  assert.ok(Buffer.from(logins[0]?.form['SAMLResponse'] ?? '', 'base64').length > 50_000)
  const answers = await Promise.all(logins.map(({ browser, form }) => browser.bring(form)))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  assert.equal(await logins[199]?.browser.whoAmI(), 'user199@a.example')
})

test('a provider changes its key while 60 users sign on at the same moment: all of them get in (D8.6)', async t => {
  const saml = await startWithSaml(t)
  assert.equal((await saml.browser().signInBy('first@a.example', '', { assertionId: '_first' })).status, 200)
  const key = keyNamed('other')
  const logins = await Promise.all(
    Array.from({ length: 60 }, async (_, n) => {
      const browser = saml.browser()
      const sent = await browser.leave()
      const about = { name: `user${n}@a.example`, assertionId: `_${n}`, key }
      return { browser, form: browser.answerTo(sent, about) }
    }),
  )
  const before = saml.idp.asked()
  saml.idp.publish({ keys: [key] })
  const answers = await Promise.all(logins.map(({ browser, form }) => browser.bring(form)))
  assert.deepEqual(
    answers.map(({ status }) => status),
    Array<number>(60).fill(200),
  )
  assert.equal(await logins[59]?.browser.whoAmI(), 'user59@a.example')
  assert.equal(saml.idp.asked(), before + 1, 'one reading for all of them')
})

test('a renamed user keeps the account, and a new user with the old name inherits nothing (D1.7, D19.1)', async t => {
  const { service, browser } = await startWithSaml(t)
  const first = browser()
  await first.signInBy('anna@a.example', '', { assertionId: '_1' })
  const { id } = (await first.get('auth/user')).json<{ id: string }>()
  const admin = await service.admin()
  assert.equal((await admin.put(`_principals/resource/${id}`, { name: 'anna.smith@a.example' })).status, 204)
  const again = browser()
  assert.equal((await again.signInBy('Anna@A.example', '', { assertionId: '_2' })).status, 200)
  assert.equal((await again.get('auth/user')).json()['id'], id)
  assert.equal(await again.whoAmI(), 'anna.smith@a.example')
  const newcomer = await addUser(admin, 'anna@a.example')
  const third = browser()
  await third.signInBy('anna@a.example', '', { assertionId: '_3' })
  assert.equal((await third.get('auth/user')).json()['id'], id)
  assert.notEqual(newcomer.id, id)
})

test('a deleted user is forgotten: the next sign-on creates another one (D1.7)', async t => {
  const { service, browser } = await startWithSaml(t)
  const first = browser()
  await first.signInBy('anna@a.example', '', { assertionId: '_1' })
  const { id } = (await first.get('auth/user')).json<{ id: string }>()
  const admin = await service.admin()
  assert.equal((await admin.delete(`_principals/entry/${id}`)).status, 204)
  const again = browser()
  assert.equal((await again.signInBy('anna@a.example', '', { assertionId: '_2' })).status, 200)
  assert.notEqual((await again.get('auth/user')).json()['id'], id)
})

test('a login ends with the session at the provider, however often it is used (SessionNotOnOrAfter) (D19.6)', async t => {
  const { service, browser } = await startWithSaml(t)
  const user = browser()
  const end = new Date(service.system.now() + 600_000).toISOString()
  const limited = (xml: string): string => edit(xml, 'SessionIndex', `SessionNotOnOrAfter="${end}" SessionIndex`)
  assert.equal((await user.signInBy('anna@a.example', '', { edit: limited })).status, 200)
  service.system.pass(400_000)
  assert.equal(await user.whoAmI(), 'anna@a.example')
  // The tolerance for clocks is a minute. A margin stays, because Redis goes by its own clock as well.
  service.system.pass(200_000)
  assert.equal(await user.whoAmI(), 'anna@a.example')
  service.system.pass(60_000)
  assert.equal(await user.whoAmI(), 'guest')
})

test('a login by a provider ends when the provider says so, however often it is used (D32.5)', async t => {
  const { service, browser } = await startWithSaml(t)
  const [user, limited] = [browser(), browser()]
  assert.equal((await user.signInBy('anna@a.example')).status, 200)
  const end = new Date(service.system.now() + 600_000).toISOString()
  const earlier = (xml: string): string => edit(xml, 'SessionIndex', `SessionNotOnOrAfter="${end}" SessionIndex`)
  assert.equal((await limited.signInBy('ben@a.example', '', { edit: earlier, assertionId: '_2' })).status, 200)
  service.system.pass(1_800_000)
  assert.equal(await user.whoAmI(), 'anna@a.example')
  assert.equal(await limited.whoAmI(), 'guest')
})

test('a refused sign-on is in the audit log, with its check and correlation; strangers cannot fill it (D19.7)', async t => {
  const { service, browser } = await startWithSaml(t)
  const form = { SAMLResponse: 'AAAA', RelayState: 'x' }
  const refused = await browser().bring(form, '?idp=a', { accept: 'application/json' })
  const { correlation } = refused.json<{ correlation: string }>()
  const admin = await service.admin()
  const failed = async (): Promise<Array<Record<string, unknown>>> =>
    (await admin.get('management/audit?event=login-failed&limit=1000')).json<{ events: [] }>().events
  const [event] = await failed()
  assert.deepEqual(event?.['detail'], { mechanism: 'a', why: 'relay-state', correlation })
  for (let n = 0; n < 80; n++) await browser().bring(form)
  assert.equal((await failed()).length, 60)
})
