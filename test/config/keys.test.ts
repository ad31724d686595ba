import assert from 'node:assert/strict'
import { test } from 'node:test'
import { choice, integer } from '../../src/config/kinds.ts'
import { groups, keys, rows } from '../../src/config/keys.ts'
import { loadSettings } from '../../src/config/load.ts'
import { isList, isMap, isPerIdp, locate, nearestKey, writeKey } from '../../src/config/key-pattern.ts'
import { withSignOn } from './parsing.ts'

test('every key is in exactly one group', () => {
  assert.deepEqual(
    Object.values(groups).flatMap(table => Object.keys(table)),
    Object.keys(keys),
  )
})

test('every key is found again as it is written, in its own row', () => {
  for (const [key] of rows) {
    const idp = isPerIdp(key) ? 'x-1' : undefined
    const last = isList(key) ? 12 : isMap(key) ? 'urn:a.b' : undefined
    const place = { key, idp, number: isList(key) ? '12' : undefined, name: isMap(key) ? 'urn:a.b' : undefined }
    assert.deepEqual(locate(writeKey(key, idp, last)), place)
  }
})

test('every default is a value of its kind', () => {
  for (const [key, setting] of rows) {
    if (setting.default === undefined) continue
    assert.deepEqual(setting.kind.parse(setting.kind.show(setting.default)), { value: setting.default }, key)
  }
})

test('lists and maps have no default, and secrets neither', () => {
  for (const [key, setting] of rows) {
    if (isList(key) || isMap(key) || setting.kind.secret) assert.equal(setting.default, undefined, key)
  }
})

test('every help is one or more sentences', () => {
  for (const [key, setting] of rows) assert.match(setting.help, /^[A-Z`].*\.$/, key)
})

test('the nearest key keeps the number and the name that were written', () => {
  assert.equal(nearestKey('service.auth.password.whitlist.7'), 'service.auth.password.whitelist.7')
  assert.equal(nearestKey('service.auth.saml.idp.uni.relying-partyid'), 'service.auth.saml.idp.uni.relying-party-id')
  assert.equal(nearestKey('service.auth.lockout.max.attempts'), 'service.auth.temp.lockout.max.attempts')
  assert.equal(nearestKey('service.port'), 'service.http.port')
  assert.equal(nearestKey('service.quota.default'), 'service.data.quota.default')
  assert.equal(nearestKey('service.nothing.like.it'), undefined)
  assert.equal(nearestKey('x'.repeat(100_000)), undefined)
})

test('settings have the types of their rows (checked by the compiler)', () => {
  const { settings } = loadSettings({ overrides: [] })
  const port: number = settings['service.http.port']
  const base: string | undefined = settings['service.baseurl.folder']
  const sameSite: 'none' | 'lax' | 'strict' = settings['service.auth.cookie.samesite']
  const proxies: readonly string[] = settings['service.http.trusted-proxies.<n>']
  const ages: ReadonlyMap<string, number> = withSignOn(settings)['service.auth.saml.idp.<idp>.metadata.max-age']
  const domains: ReadonlyMap<string, readonly string[]> =
    withSignOn(settings)['service.auth.saml.idp.<idp>.domains.<n>']
  // @ts-expect-error: a setting without default may be missing
  const folder: string = settings['service.baseurl.folder']
  // @ts-expect-error: the default is none of the words
  choice(['a', 'b'], { default: 'c', help: '' })
  // @ts-expect-error: misspelt
  integer({ min: 0, defualt: 1, help: '' })
  assert.deepEqual(
    [port, base, sameSite, proxies.length, ages.size, domains.size, folder],
    [8080, undefined, 'strict', 0, 0, 0, undefined],
  )
})
