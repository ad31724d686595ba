import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { findForm, HeadlessBrowser } from '../support/headless-browser.ts'
import { type Listener, listen } from '../support/listener.ts'

const lastHeard = ({ heard }: Listener) => heard.at(-1)?.headers ?? {}
const foreign = (origin: string): string => origin.replace('127.0.0.1', 'localhost')

async function cookieSetter(t: TestContext): Promise<Listener> {
  return listen(t, ({ url }, response) => {
    if (url.pathname === '/set') {
      const cookies = ['strict=1; SameSite=Strict', 'lax=1; SameSite=Lax', 'none=1; SameSite=None; Secure', 'plain=1']
      response.setHeader('set-cookie', [...cookies.map(one => `${one}; Path=/`), 'deep=1; Path=/deep'])
    }
    if (url.pathname === '/forget')
      response.setHeader('set-cookie', [
        'lax=; Max-Age=0; Path=/',
        'none=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT',
      ])
    if (url.pathname === '/away') response.writeHead(303, { location: '/landing' })
    response.end('<form method="post" action="/away"><input name="a" value="b"></form>')
  })
}

test('a cross-site POST sends no strict or lax cookie; the page that it leads to gets lax ones only', async t => {
  const service = await cookieSetter(t)
  const other = await listen(t, (_, response) =>
    response.end(`<form method="post" action="${service.origin}/away"><input name="a" value="b"></form>`),
  )
  const browser = new HeadlessBrowser()
  await browser.visit(`${service.origin}/set`)
  const page = await browser.visit(`${foreign(other.origin)}/`)
  const form = findForm(page, 'a')
  assert.ok(form)
  const landed = await browser.submit(page, form)

  const [post, landing] = service.heard.slice(-2)
  assert.equal(post?.method, 'POST')
  assert.equal(post?.headers.cookie, 'none=1; plain=1')
  assert.equal(post?.headers['sec-fetch-site'], 'cross-site')
  assert.equal(post?.headers.origin, foreign(other.origin))
  assert.equal(landing?.method, 'GET')
  assert.equal(landing?.headers.cookie, 'lax=1; none=1; plain=1')
  assert.equal(landing?.headers['sec-fetch-site'], 'cross-site')
  assert.equal(landed.url, `${service.origin}/landing`)
  assert.deepEqual(
    landed.trail.map(step => step.answer.status),
    [303, 200],
  )
})

test('cookies go to every port of their host and under their path until they are removed', async t => {
  const [service, neighbour] = [await cookieSetter(t), await listen(t)]
  const browser = new HeadlessBrowser()
  const page = await browser.visit(`${service.origin}/set`)
  await browser.visit(`${neighbour.origin}/deep/down`)
  assert.equal(lastHeard(neighbour).cookie, 'strict=1; lax=1; none=1; plain=1; deep=1')
  await browser.visit(`${neighbour.origin}/deeper`, page)
  assert.equal(lastHeard(neighbour).cookie, 'strict=1; lax=1; none=1; plain=1')
  assert.equal(lastHeard(neighbour)['sec-fetch-site'], 'same-site')
  await browser.visit(`${foreign(neighbour.origin)}/`)
  assert.equal(lastHeard(neighbour).cookie, undefined)
  await browser.visit(`${service.origin}/forget`)
  assert.deepEqual(browser.cookies('127.0.0.1'), { strict: '1', plain: '1', deep: '1' })
})

test('a form is sent as a browser reads it: entities decoded, boxes unticked, the page itself as default target', async t => {
  const service = await listen(t, (_, response) => {
    response.setHeader('referrer-policy', 'no-referrer')
    response.end(`<form><input name="other"></form><FORM method='Post'>
      <input type=hidden name=token value='a&amp;b&#x3d;&#61;"'><input name="empty"/>
      <input type="checkbox" name="box" value="on"><input type="submit" name="go" value="Go"></FORM>`)
  })
  const browser = new HeadlessBrowser()
  const page = await browser.visit(`${service.origin}/login?a=1`)
  const form = findForm(page, 'token')
  assert.deepEqual(form, {
    action: `${service.origin}/login?a=1`,
    method: 'POST',
    fields: { token: 'a&b=="', empty: '' },
  })
  await browser.submit(page, form, { empty: 'ö' })
  assert.deepEqual(service.heard.at(-1)?.form, { token: 'a&b=="', empty: 'ö' })
  // The page hides its address, and browsers then hide the origin too.
  assert.equal(lastHeard(service).origin, 'null')
})

test('an endless redirect is given up', async t => {
  const service = await listen(t, (_, response) => response.writeHead(302, { location: '/' }).end())
  await assert.rejects(new HeadlessBrowser().visit(service.origin), /redirected without end/)
})
