import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask } from '../support/http-client.ts'
import { startBehind } from '../support/other-base.ts'
import { startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const ui = (path = '', headers = {}) => ask(`${service.base}ui/${path}`, { headers })

const assetsIn = (text: string): string[] =>
  [...text.matchAll(/(?:src|href)="([^"]*\/assets\/[^"]*)"/g)].map(match => match[1] ?? '')

test('every address under ui/ returns the same page, with a content security policy, its type and no stale caching', async () => {
  const page = await ui()
  for (const path of [
    'nothing',
    'entry/1',
    'resource/2',
    'quota',
    'contexts/..%2f..%2fauth/files',
    'contexts/"/files',
  ]) {
    const other = await ui(path)
    assert.deepEqual([other.status, other.text], [200, page.text], path)
  }
  assert.equal(page.headers['content-type'], 'text/html; charset=utf-8')
  assert.equal(page.headers['cache-control'], 'no-cache')
  assert.match(page.headers.vary ?? '', /accept-language/)
  const policy = String(page.headers['content-security-policy'])
  for (const rule of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "base-uri 'none'"])
    assert.ok(policy.includes(rule), rule)
  assert.doesNotMatch(policy, /unsafe|\*|https?:|data:/)
})

test('a cached copy of the page that is still current is not sent again', async () => {
  const { etag } = (await ui()).headers
  assert.match(etag ?? '', /^"[\w-]{20,}"$/)
  const again = await ui('', { 'if-none-match': etag })
  assert.deepEqual([again.status, again.text, again.headers.etag], [304, '', etag])
  assert.equal((await ui('', { 'if-none-match': etag, 'accept-language': 'sv' })).status, 200)
})

test('any form of If-None-Match that names the page or a built file is understood (RFC 9110 13.1.2)', async () => {
  const page = `${service.base}ui/`
  const [script = ''] = assetsIn((await ui()).text)
  for (const url of [page, script]) {
    const { etag = '' } = (await ask(url)).headers
    for (const tags of [etag, `W/${etag}`, `"x", ${etag}`, `"x",W/${etag}, "y"`, '*']) {
      const again = await ask(url, { headers: { 'if-none-match': tags } })
      assert.deepEqual([again.status, again.text, again.headers.etag], [304, '', etag], `${url} ${tags}`)
    }
    for (const headers of [{ 'if-none-match': '"x"' }, { 'if-modified-since': new Date().toUTCString() }])
      assert.equal((await ask(url, { headers })).status, 200, `${url} ${JSON.stringify(headers)}`)
  }
})

test('a built file comes in the coding that the client prefers, and 304 names the tag of that form', async () => {
  const [script = ''] = assetsIn((await ui()).text).filter(url => url.endsWith('.js'))
  for (const [accepted, sent] of [
    ['gzip, br', 'br'],
    ['br;q=0.1, gzip;q=1.0', 'gzip'],
    ['identity;q=1, gzip;q=0.1', undefined],
  ] as const) {
    const headers = { 'accept-encoding': accepted }
    const { headers: first } = await ask(script, { headers })
    assert.equal(first['content-encoding'], sent, accepted)
    const again = await ask(script, { headers: { ...headers, 'if-none-match': `W/${first.etag}` } })
    assert.deepEqual([again.status, again.headers.etag], [304, first.etag], accepted)
  }
})

test('built files are cached forever, also for signed-in users: changed content has another name', async () => {
  const someone = await service.admin()
  const assets = assetsIn((await ui()).text)
  assert.equal(assets.length, 4)
  for (const url of assets) {
    const file = await someone.get(url.slice(service.base.length))
    assert.equal(file.status, 200, url)
    assert.match(file.headers['cache-control'] ?? '', /^public, max-age=31536000, immutable$/)
    assert.match(url, /-[A-Za-z0-9]{8}\.(js|css|svg)$/)
    assert.equal((await ask(url, { headers: { 'if-none-match': file.headers.etag } })).status, 304)
    assert.equal((await ask(url, { method: 'HEAD' })).headers['content-length'], String(file.bytes.length))
  }
})

test('only built files are served: no path traversal, no manifest, no licence file, no directory listing', async () => {
  for (const name of ['', 'manifest.json', '..%2fmain.js', '%2e%2e', 'preact.LICENSE.txt', 'app.js', '__proto__']) {
    const { status, text } = await ui(`assets/${name}`)
    assert.ok(status === 404 || text.startsWith('<!doctype html>'), `${name} ${status}`)
  }
})

test('nothing can be written under ui/, and the address without the slash redirects to it', async () => {
  const put = await ask(`${service.base}ui/`, { method: 'PUT', body: 'x' })
  assert.deepEqual([put.status, put.headers.allow], [405, 'GET, HEAD'])
  const first = await ask(`${service.base}ui`)
  assert.deepEqual([first.status, first.headers.location], [303, `${service.base}ui/`])
  const other = await ask(`${service.base}ui/contexts/1/files`, { headers: { host: localhost(service.base) } })
  assert.deepEqual([other.status, other.headers.location], [303, `${service.base}ui/`])
})

const localhost = (base: string): string => new URL(base.replace('127.0.0.1', 'localhost')).host

test('a page uses the base address, wherever the service listens and whatever the Host header says (D1.1)', async t => {
  const nested = await startBehind(t, 'https://store.example/x/y/')
  for (const prefix of ['', 'x/y/', 'store/']) {
    const { text } = await ask(`${nested.base}${prefix}ui/`, { headers: { host: 'evil.example' } })
    assert.match(text, /data-base="\/x\/y\/"/)
    assert.doesNotMatch(text, /evil/)
    for (const url of assetsIn(text)) assert.ok(url.startsWith('https://store.example/x/y/ui/assets/'), url)
  }
})

test('the page and its files are the same for all callers: no token is checked and none is cleared', async () => {
  const { headers, status, text } = await ui('', { cookie: `auth_token=${'x'.repeat(43)}` })
  assert.deepEqual([status, headers['set-cookie']], [200, undefined])
  const real = await (await service.admin()).get('ui/')
  assert.equal(real.text, text)
})

test('browsers without a token are not asked to request what only users get', async () => {
  assert.doesNotMatch((await ui()).text, /as="fetch"/)
  const { text } = await ui('contexts/7/files', { cookie: 'auth_token=x' })
  const requested = [...text.matchAll(/as="fetch" crossorigin href="([^"]*)"/g)].map(([, url]) => url)
  assert.deepEqual(requested, ['/auth/user', '/_contexts/entry/7?includeAll'])
})

test('the rules for a new password are public (I5.6)', async t => {
  const { rules, maxLength } = (await service.visitor().get('auth/password-rules')).json<{
    readonly rules: ReadonlyArray<{ readonly name: string }>
    readonly maxLength: number
  }>()
  assert.deepEqual(
    rules.map(({ name }) => name),
    ['min-length (10)', 'lowercase', 'uppercase', 'number'],
  )
  assert.deepEqual(rules[0], { name: 'min-length (10)', kind: 'min-length', value: 10 })
  assert.equal(maxLength, 2048)
  const settings = { 'service.auth.password.rule.custom.1': '[äöü]', 'service.auth.password.rule.symbol': 'true' }
  const own = await startInProcess(t, { settings })
  const reported = (await own.visitor().get('auth/password-rules')).json<{ readonly rules: readonly unknown[] }>().rules
  assert.deepEqual(reported.slice(-2), [
    { name: 'symbol', kind: 'symbol' },
    { name: 'custom.1', kind: 'custom', value: '[äöü]' },
  ])
})

/** Bytes of a page with all that it names, compressed. */
async function bytesOf(path: string): Promise<number> {
  const headers = { 'accept-encoding': 'br' }
  const page = await ask(service.base + path, { headers })
  let bytes = page.bytes.length
  for (const url of new Set(assetsIn(page.text))) bytes += (await ask(url, { headers })).bytes.length
  return bytes
}

test('compressed, the sign-in page loads less than 11 KB, the first page after it less than 52 KB, a page of files less than 95 KB', async () => {
  for (const [path, least, most] of [
    ['auth/login', 4000, 11_000],
    ['ui/', 20_000, 52_000],
    ['ui/contexts/7/files', 40_000, 95_000],
  ] as const) {
    const bytes = await bytesOf(path)
    assert.ok(bytes > least && bytes < most, `${path}: ${bytes} bytes`)
  }
})

test('the first page needs two requests for scripts: one for the code, one for the language', async () => {
  const scripts = assetsIn((await ui('', { 'accept-language': 'sv' })).text).filter(url => url.endsWith('.js'))
  assert.deepEqual(
    scripts.map(url => /([a-z]+)-\w+\.js$/.exec(url)?.[1]),
    ['app', 'sv'],
  )
  for (const url of scripts) assert.doesNotMatch((await ask(url)).text, /from"\.\//)
})
