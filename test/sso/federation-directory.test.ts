import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FederationDirectory, listedEntity } from '../../src/features/saml/federation-directory.ts'
import { type FederationEntity, HIDE_FROM_DISCOVERY, readEntity } from '../../src/features/saml/federation-entity.ts'
import { keyNamed, NOW } from '../support/saml-idp.ts'

const entity = (entityId: string, more: Partial<FederationEntity> = {}): FederationEntity => ({
  entityId,
  idp: undefined as never,
  names: {},
  keywords: '',
  scopes: [],
  scopePatterns: [],
  categories: [],
  ...more,
})
const directoryOf = (entities: readonly FederationEntity[], required: readonly string[] = []) =>
  new FederationDirectory(entities.map(listedEntity), required)

const zurich = entity('https://idp.uzh.example/idp', {
  names: { de: 'Universität Zürich', en: 'University of Zurich' },
  keywords: 'UZH research',
  scopes: ['uzh.example', 'math.uzh.example'],
})
const berlin = entity('https://login.berlin.example/', {
  names: { de: 'Freie Universität' },
  scopes: ['berlin.example'],
})
const silent = entity('urn:silent', { scopes: ['silent.example'] })
const directory = directoryOf([zurich, silent, berlin])
const found = (text: string, languages: readonly string[] = []) =>
  directory.search({ text, languages }).hits.map(({ name }) => name)

test('providers are found by words of names, keywords and domains, without case and accents (D31.6)', () => {
  for (const text of [
    'zurich',
    'ZÜRICH',
    'Universität Zü',
    'zur univ',
    'uzh',
    'research',
    'math.uzh',
    'idp.uzh.ex',
    'uzh.example',
  ])
    assert.deepEqual(found(text), ['University of Zurich'], text)
  for (const text of ['', ' ', 'urich', 'zurich berlin', '?', 'a b c d e f g h i', 'x'])
    assert.deepEqual(found(text), [], text)
  assert.deepEqual(found('u u u u u u u u'), ['Freie Universität', 'University of Zurich'])
  assert.deepEqual(found('silent'), ['silent.example'])
})

test('only the first hundred characters of a question are read', () => {
  assert.deepEqual(found(`zurich${' '.repeat(94)}nothing`), ['University of Zurich'])
  assert.deepEqual(found(`zurich${' '.repeat(93)}nothing`), [])
})

test('names that begin with the question come first, each group by name (D31.6)', () => {
  const named = (...names: readonly string[]) =>
    directoryOf(names.map(name => entity(`urn:${name}`, { names: { en: name } })))
  const { hits } = named('The Art School', 'Art B', 'art a', 'Be Art', 'Ärt C').search({ text: 'art', languages: [] })
  assert.deepEqual(
    hits.map(({ name }) => name),
    ['art a', 'Art B', 'Ärt C', 'Be Art', 'The Art School'],
  )
})

test('a name is in the first language of the user that it has, then in English, then in any (D31.6)', () => {
  const nameIn = (languages: readonly string[], names: Readonly<Record<string, string>>) => {
    const [hit] = directoryOf([entity('urn:x', { names, keywords: 'word', scopes: ['x.example'] })]).search({
      text: 'word',
      languages,
    }).hits
    return [hit?.name, hit?.language]
  }
  const names = { sv: 'S', 'de-at': 'A', de: 'D', en: 'E', '': 'N' }
  assert.deepEqual(nameIn(['fi', 'de-CH', 'sv'], names), ['D', 'de'])
  assert.deepEqual(nameIn(['DE-AT'], names), ['A', 'de-at'])
  assert.deepEqual(nameIn([], names), ['E', 'en'])
  assert.deepEqual(nameIn(['fi'], { '': 'N', sv: 'S' }), ['N', undefined])
  assert.deepEqual(nameIn(['fi'], { sv: 'S' }), ['S', 'sv'])
  assert.deepEqual(nameIn(['fi', 'toString'], {}), ['x.example', undefined])
  const [bare] = directoryOf([entity('urn:bare')]).search({ entityIds: ['urn:bare'], languages: [] }).hits
  assert.deepEqual(bare, { entityId: 'urn:bare', name: 'urn:bare', language: undefined, domain: undefined })
})

test('providers are found by a domain that they publish, and by their ids in the given order (D31.6)', () => {
  const ids = (question: object) =>
    directory.search({ ...question, languages: [] }).hits.map(({ entityId }) => entityId)
  assert.deepEqual(ids({ domain: 'MATH.uzh.example' }), [zurich.entityId])
  for (const domain of ['uzh', 'x.uzh.example', '']) assert.deepEqual(ids({ domain }), [], domain)
  assert.deepEqual(ids({ entityIds: [silent.entityId, 'urn:other', berlin.entityId] }), [
    silent.entityId,
    berlin.entityId,
  ])
  assert.deepEqual(ids({}), [])
  const [hit] = directory.search({ domain: 'uzh.example', languages: ['de'] }).hits
  assert.deepEqual(hit, {
    entityId: zurich.entityId,
    name: 'Universität Zürich',
    language: 'de',
    domain: 'uzh.example',
  })
})

test('fifty hits are returned, and that there are more (D31.6)', () => {
  const many = (count: number) =>
    directoryOf(Array.from({ length: count }, (_, at) => entity(`urn:${at}`, { keywords: 'word' }))).search({
      text: 'word',
      languages: [],
    })
  assert.deepEqual([many(50).hits.length, many(50).hasMore], [50, false])
  assert.deepEqual([many(51).hits.length, many(51).hasMore], [50, true])
})

test('providers that hide or lack a required category are not offered (D31.6)', () => {
  const all = [
    entity('urn:none'),
    entity('urn:one', { categories: ['c1'] }),
    entity('urn:both', { categories: ['c2', 'c1'] }),
    entity('urn:hidden', { categories: ['c1', 'c2', HIDE_FROM_DISCOVERY] }),
  ]
  assert.equal(HIDE_FROM_DISCOVERY, 'http://refeds.org/category/hide-from-discovery')
  const offered = (required: readonly string[]) => {
    const directory = directoryOf(all, required)
    const { hits } = directory.search({ entityIds: all.map(({ entityId }) => entityId), languages: [] })
    assert.equal(directory.size, hits.length)
    return hits.map(({ entityId }) => entityId)
  }
  assert.deepEqual(offered([]), ['urn:none', 'urn:one', 'urn:both'])
  assert.deepEqual(offered(['c1', 'c2']), ['urn:both'])
})

const spaces =
  'xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:mdui="urn:oasis:names:tc:SAML:metadata:ui" xmlns:shibmd="urn:mace:shibboleth:metadata:1.0" xmlns:mdattr="urn:oasis:names:tc:SAML:metadata:attribute" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"'
const descriptor = (extensions: string, behind = ''): string =>
  `<md:EntityDescriptor ${spaces} xmlns:ds="http://www.w3.org/2000/09/xmldsig#" entityID="urn:idp"><md:IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><md:Extensions>${extensions}</md:Extensions><md:KeyDescriptor><ds:KeyInfo><ds:X509Data><ds:X509Certificate>${keyNamed('idp').base64}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor><md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://idp/sso"/></md:IDPSSODescriptor>${behind}</md:EntityDescriptor>`
const organisation =
  '<md:Organization><md:OrganizationDisplayName xml:lang="EN"> Org </md:OrganizationDisplayName></md:Organization>'

test('what an entity publishes is read: names, keywords, scopes and categories (D31.1)', () => {
  const { idp: _, ...read } = readEntity(
    descriptor(
      `<mdui:UIInfo><mdui:DisplayName xml:lang="DE"> Uni\n</mdui:DisplayName><mdui:DisplayName>Any</mdui:DisplayName><mdui:DisplayName xml:lang="bad tag">x</mdui:DisplayName><mdui:DisplayName xml:lang="sv"> </mdui:DisplayName><mdui:DisplayName xml:lang="fi">${'x'.repeat(201)}</mdui:DisplayName><mdui:Keywords>k1 k2</mdui:Keywords></mdui:UIInfo>` +
        '<mdui:DiscoHints><mdui:DomainHint>d.example</mdui:DomainHint><mdui:IPHint>::/0</mdui:IPHint></mdui:DiscoHints><mdui:Other><mdui:Keywords>no</mdui:Keywords></mdui:Other>' +
        '<shibmd:Scope> A.example</shibmd:Scope><shibmd:Scope regexp="false">b.example</shibmd:Scope><shibmd:Scope regexp="true"> ^C$ </shibmd:Scope><shibmd:Scope regexp="1">d</shibmd:Scope><shibmd:Scope/><shibmd:Scope regexp="1"/>' +
        [
          'http://macedir.org/entity-category',
          'http://macedir.org/entity-category-support',
          'urn:oasis:names:tc:SAML:attribute:assurance-certification',
          'urn:other',
        ]
          .map(
            (name, at) =>
              `<mdattr:EntityAttributes><saml:Attribute Name="${name}"><saml:AttributeValue> c${at} </saml:AttributeValue><saml:AttributeValue>same</saml:AttributeValue><saml:AttributeValue/></saml:Attribute></mdattr:EntityAttributes>`,
          )
          .join(''),
      organisation,
    ),
    NOW,
  )
  assert.deepEqual(read, {
    entityId: 'urn:idp',
    names: { de: 'Uni', '': 'Any', fi: 'x'.repeat(200) },
    keywords: 'k1 k2 d.example',
    scopes: ['a.example', 'b.example'],
    scopePatterns: ['^C$', 'd'],
    categories: ['c0', 'same', 'c1', 'c2'],
  })
})

test('an entity without display names has those of its organisation (D31.1)', () => {
  assert.deepEqual(readEntity(descriptor('', organisation), NOW).names, { en: 'Org' })
  const { names, keywords, scopes, scopePatterns, categories } = readEntity(descriptor(''), NOW)
  assert.deepEqual([names, keywords, scopes, scopePatterns, categories], [{}, '', [], [], []])
})

test('lists and words of an entity are limited (D31.1)', () => {
  const scopes = (count: number) =>
    Array.from({ length: count }, (_, at) => `<shibmd:Scope>s${at}</shibmd:Scope>`).join('')
  const values = Array.from({ length: 201 }, (_, at) => `<saml:AttributeValue>${at}</saml:AttributeValue>`).join('')
  const read = readEntity(
    descriptor(
      `<mdui:UIInfo><mdui:Keywords>${'k'.repeat(501)}</mdui:Keywords></mdui:UIInfo>${scopes(201)}<mdattr:EntityAttributes><saml:Attribute Name="http://macedir.org/entity-category">${values}</saml:Attribute></mdattr:EntityAttributes>`,
    ),
    NOW,
  )
  assert.deepEqual([read.keywords.length, read.scopes.length, read.categories.length], [500, 200, 200])
})

test('of the languages of a browser, the first twenty are looked for (D35.26)', () => {
  const others = Array.from({ length: 20 }, (_, n) => `x${n}`)
  assert.deepEqual(found('uzh', [...others.slice(1), 'de']), ['Universität Zürich'])
  assert.deepEqual(found('uzh', [...others, 'de']), ['University of Zurich'])
})
