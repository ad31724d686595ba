import assert from 'node:assert/strict'
import { test } from 'node:test'
import { after } from '../support/after.ts'
import { StartupError } from '../../src/base/errors.ts'
import { loadSettings } from '../../src/config/load.ts'
import { startBehind } from '../support/other-base.ts'
import { ADMIN_PASSWORD } from '../support/service.ts'

const service = await startBehind({ after }, 'https://h.example/', {
  'service.auth.cookie.host-prefix': 'on',
  'service.auth.temp.lockout.trusted-devices': 'on',
})
const form = { auth_username: 'admin', auth_password: ADMIN_PASSWORD }
const signIn = async () => {
  const answer = await service.visitor().ask('auth/cookie', { form })
  assert.equal(answer.status, 200, answer.text)
  const set = answer.headers['set-cookie'] ?? []
  return {
    set,
    token: /^__Host-auth_token=([\w-]{43});/.exec(set.find(line => line.includes('auth_token')) ?? '')?.[1],
  }
}
const whoIs = async (cookie: string, path = 'auth/user'): Promise<unknown> =>
  (await service.visitor().ask(path, { headers: { cookie } })).json()['user']

test('with the prefix __Host- a login works by this name only, on every route, and is cleared by it (D32.3)', async () => {
  const { set, token = '' } = await signIn()
  assert.deepEqual(
    new Set(set.map(line => line.split('=')[0])),
    new Set(['__Host-auth_token', '__Host-stowage_device']),
  )
  for (const line of set) assert.match(line, /; Path=\/; SameSite=Strict; HttpOnly; Secure$/)
  assert.equal(await whoIs(`__Host-auth_token=${token}`), 'admin')
  assert.equal(await whoIs(`auth_token=${token}`), 'guest')
  assert.equal(await whoIs(`__Host-auth_token=${token}`, 'auth/user?ignoreAuth'), 'guest')
  const { components } = (await service.visitor().get('openapi.json')).json<{
    components: { securitySchemes: { cookie: { name: string } } }
  }>()
  assert.equal(components.securitySchemes.cookie.name, '__Host-auth_token')

  // A cookie of another host of the domain neither ends a login nor has one cleared.
  const tossed = await service.visitor().ask('auth/user', { headers: { cookie: 'auth_token=0123456789abcdef' } })
  assert.equal(tossed.headers['set-cookie'], undefined)
  await service.visitor().ask('auth/logout', { headers: { cookie: `auth_token=${token}` } })
  assert.equal(await whoIs(`__Host-auth_token=${token}`), 'admin')

  const out = await service.visitor().ask('auth/logout', { headers: { cookie: `__Host-auth_token=${token}` } })
  assert.match(String(out.headers['set-cookie']), /^__Host-auth_token=; Max-Age=0; /)
  assert.equal(await whoIs(`__Host-auth_token=${token}`), 'guest')
})

test('the prefix needs https, the path / and Secure, or the service does not start (D32.3)', () => {
  const load = (settings: Readonly<Record<string, string>>) =>
    loadSettings({
      overrides: Object.entries({ 'service.auth.cookie.host-prefix': 'on', ...settings }).map(one => one.join('=')),
    })
  const base = 'service.baseurl.folder'
  for (const wrong of [
    {},
    { [base]: 'http://h.example/' },
    { [base]: 'https://h.example/store/' },
    { [base]: 'https://h.example/', 'service.auth.cookie.path': '/store/' },
    { [base]: 'https://h.example/', 'service.auth.cookie.secure': 'off' },
  ]) {
    const names = (error: unknown): boolean => error instanceof StartupError && error.message.includes('prefix __Host-')
    assert.throws(() => load(wrong), names, JSON.stringify(wrong))
  }
  load({ [base]: 'https://h.example/store/', 'service.auth.cookie.path': '/' })
})

test('a sign-out over https has the browser delete the storage of an origin that is the service’s alone (D32.4)', async t => {
  const headerOf = async (base: string) => {
    const other = await startBehind(t, base)
    const answer = await other.visitor().ask('auth/logout', { headers: { accept: 'text/html,application/xhtml+xml' } })
    await other.close()
    return answer.headers['clear-site-data']
  }
  const out = await service.visitor().ask('auth/logout')
  assert.deepEqual([out.status, out.headers['clear-site-data']], [204, '"storage"'])
  const ignored = await service.visitor().ask('auth/logout?ignoreAuth')
  assert.equal(ignored.headers['clear-site-data'], undefined)
  assert.equal(await headerOf('https://h.example/store/'), undefined, 'another application may be beside it')
  assert.equal(await headerOf('http://h.example/'), undefined)
})
