import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeadlessBrowser } from '../support/headless-browser.ts'
import { loginAtProvider, startWithOidc } from '../support/oidc-at-provider.ts'
import { startWithSaml } from '../support/saml-service.ts'
import type { Visitor } from '../support/http-client.ts'
import { escapeXml } from '../../src/features/sso/xml.ts'

const AFFILIATION = 'urn:oid:1.3.6.1.4.1.5923.1.1.1.1'
const MEMBER = 'urn:oid:1.3.6.1.4.1.5923.1.5.1.1'

const saml = await startWithSaml(
  { after },
  {
    'service.auth.saml.idp.a.groups-attribute': 'isMemberOf',
    'service.auth.saml.idp.a.groups-prefix': 'uni-',
    'service.auth.saml.idp.a.map.name': 'displayName',
    'service.auth.saml.idp.b.groups-attribute': MEMBER,
    'service.auth.saml.idp.b.groups-prefix': 'Uni-',
    'service.auth.saml.idp.c.required.eduPersonAffiliation': 'staff|faculty',
  },
  ['a', 'b', 'c'],
)
const admin = await saml.service.admin()

let assertions = 0

/** Signs in by this provider, which states these attributes. */
async function signInBy(idp: string, name: string, stated: Readonly<Record<string, readonly string[]>>) {
  const someone = saml.browser()
  const attributes = Object.entries(stated).map(
    ([key, values]) =>
      `<saml:Attribute Name="${escapeXml(key)}" FriendlyName="eduPersonAffiliation">${values
        .map(value => `<saml:AttributeValue>${escapeXml(value)}</saml:AttributeValue>`)
        .join('')}</saml:Attribute>`,
  )
  const found = saml.idps.find(one => one.name === idp)
  const answer = await someone.signInBy(name, `?idp=${idp}`, {
    assertionId: `_${++assertions}`,
    signed: 'response',
    ...(found ? { idp: found } : {}),
    edit: xml => xml.replace('<saml:AttributeStatement>', start => start + attributes.join('')),
  })
  return { someone, answer }
}

async function groupsOf(visitor: Visitor): Promise<string[]> {
  const { id } = (await visitor.get('auth/user')).json<{ id: string }>()
  const { groups } = (await admin.get('management/groups?query=uni-')).json<{
    groups: Array<{ id: string; name: string }>
  }>()
  const found: string[] = []
  for (const group of groups) {
    const { children } = (await admin.get(`_principals/resource/${group.id}`)).json<{
      children: Array<{ entryId: string }>
    }>()
    if (children.some(({ entryId }) => entryId === id)) found.push(group.name)
  }
  return found.sort()
}

for (const name of ['uni-one', 'uni-two']) {
  await admin.post('_principals?graphtype=group', { resource: { name } })
}

test('a group that two providers state is taken away when neither states it any more (D27.2)', async () => {
  const { someone, answer } = await signInBy('a', 'anna@a.example', { [MEMBER]: ['one', 'two'] })
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(await groupsOf(someone), ['uni-one', 'uni-two'])
  await signInBy('b', 'anna@a.example', { [MEMBER]: ['one'] })
  assert.deepEqual(await groupsOf(someone), ['uni-one', 'uni-two'])
  await signInBy('a', 'anna@a.example', {})
  assert.deepEqual(await groupsOf(someone), ['uni-one'], 'the other provider gave it too')
  await signInBy('b', 'anna@a.example', {})
  assert.deepEqual(await groupsOf(someone), [])
})

test('a value of the provider replaces what users have edited (D27.4)', async () => {
  const { someone } = await signInBy('a', 'bert@a.example', { 'urn:oid:2.16.840.1.113730.3.1.241': ['Bert'] })
  const { id } = (await someone.get('auth/user')).json<{ id: string }>()
  const about = `${admin.base}_principals/resource/${id}`
  const name = async (): Promise<unknown> =>
    (await someone.get(`_principals/metadata/${id}`)).json<Record<string, Record<string, unknown>>>()[about]
  const foaf = 'http://xmlns.com/foaf/0.1/name'
  assert.deepEqual(await name(), { [foaf]: [{ type: 'literal', value: 'Bert' }] })
  const own = { [about]: { [foaf]: [{ type: 'literal', value: 'Bertil' }] } }
  assert.equal((await someone.put(`_principals/metadata/${id}`, own)).status, 204)
  await signInBy('a', 'bert@a.example', { displayName: ['Bert'] })
  assert.deepEqual(await name(), { [foaf]: [{ type: 'literal', value: 'Bert' }] })
})

test('a user without a required value gets a page that names it, whether they exist or not (D27.5)', async () => {
  const refused = async (name: string, values: Readonly<Record<string, readonly string[]>>) => {
    const { answer } = await signInBy('c', name, values)
    assert.equal(answer.status, 401)
    return answer.text.replaceAll(/[0-9a-f]{10}/g, '')
  }
  const page = await refused('cleo@c.example', { [AFFILIATION]: ['student'] })
  assert.match(page, /eduPersonAffiliation/)
  assert.doesNotMatch(page, /student|faculty/)
  const { failures } = (await admin.get('management/sso')).json<{ failures: Array<Record<string, string>> }>()
  assert.deepEqual(
    [failures[0]?.['check'], failures[0]?.['expected'], failures[0]?.['received']],
    ['required-claim', 'eduPersonAffiliation: staff|faculty', 'student'],
  )
  assert.equal((await signInBy('c', 'dora@c.example', { [AFFILIATION]: ['x', 'staff'] })).answer.status, 200)
  // A friendly name is for people: it identifies no attribute.
  assert.equal(await refused('dora@c.example', { other: ['staff'] }), page)
  assert.equal(await refused('stranger@c.example', {}), page)
})

test('claims of OpenID Connect are mapped, at a path as well, and from the userinfo endpoint (D27.1)', async t => {
  const pair = await startWithOidc(t, {
    'op.groups-claim': 'groups',
    'op.groups-prefix': 'op-',
    'op.groups-auto-provisioning': 'on',
    'op.map.language': 'locale',
    'op.map.name': 'name',
  })
  pair.users.set('anna', {
    email: 'anna@example.org',
    email_verified: true,
    groups: ['Staff', 'ann\u0000otated'],
    name: 'Anna',
    locale: 'de-AT',
  })
  const page = await loginAtProvider(pair, 'anna', { browser: new HeadlessBrowser() })
  assert.equal(page.answer.status, 200, page.answer.text)
  const chief = await pair.service.admin()
  const { groups } = (await chief.get('management/groups?query=op-')).json<{
    groups: Array<{ name: string; members: number }>
  }>()
  assert.deepEqual(
    groups.map(({ name, members }) => [name, members]),
    [['op-staff', 1]],
  )
  const { users } = (await chief.get('management/users?query=anna')).json<{ users: Array<{ id: string }> }>()
  const { language } = (await chief.get(`_principals/resource/${users[0]?.id ?? ''}`)).json()
  assert.equal(language, 'de-AT')
})
