import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADMIN_PASSWORD, startInProcess } from '../support/service.ts'

const rows: ReadonlyArray<
  readonly [trusted: string | undefined, headers: Readonly<Record<string, string | string[]>>, is: string]
> = [
  [undefined, { 'x-forwarded-for': '203.0.113.9' }, '/127.0.0.1'],
  ['10.0.0.0/8', { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9' }, '/127.0.0.1'],
  ['127.0.0.0/8', { 'x-forwarded-for': '6.6.6.6, 203.0.113.9' }, '/203.0.113.9'],
  ['127.0.0.0/8', { 'x-forwarded-for': ['6.6.6.6', '2001:db8::9'] }, '/2001:db8::9'],
  ['127.0.0.0/8', { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=6.6.6.6' }, '/203.0.113.9'],
  ['127.0.0.0/8', { forwarded: 'for=6.6.6.6' }, '/127.0.0.1'],
  ['127.0.0.0/8', { 'x-real-ip': '6.6.6.6', 'client-ip': '6.6.6.6', 'true-client-ip': '6.6.6.6' }, '/127.0.0.1'],
]
for (const [trusted, headers, is] of rows) {
  test(`with ${trusted ?? 'no'} trusted proxies and ${JSON.stringify(headers)} a login comes from ${is} (D1.3)`, async t => {
    const settings: Record<string, string> = trusted === undefined ? {} : { 'service.http.trusted-proxies.1': trusted }
    const service = await startInProcess(t, { settings })
    const visitor = service.visitor()
    const form = { auth_username: 'admin', auth_password: ADMIN_PASSWORD }
    assert.equal((await visitor.ask('auth/cookie', { form, headers })).status, 200)
    const [login] = Object.values((await visitor.get('auth/tokens')).json<Record<string, Record<string, string>>>())
    assert.equal(login?.['inetAddress'], is)
  })
}
