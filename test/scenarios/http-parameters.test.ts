import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Ask } from '../support/http-client.ts'
import { startInProcess } from '../support/service.ts'

test('a query or a form with more than 200 parameters is refused (D35.20)', async t => {
  const service = await startInProcess(t)
  const visitor = service.visitor()
  const form = (count: number): Ask => ({
    method: 'POST',
    body: Array.from({ length: count }, (_, n) => `field${n}=`).join('&'),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  for (const [code, many, few] of [
    ['invalid-form', form(201), form(200)],
    ['invalid-query', `?${'a&'.repeat(201)}`, `?${'a&'.repeat(200)}`],
  ] as const) {
    const ask = (what: Ask | string) =>
      typeof what === 'string' ? visitor.ask(`auth/user${what}`) : visitor.ask('auth/cookie', what)
    const refused = await ask(many)
    assert.deepEqual([refused.status, refused.json()['code']], [400, code])
    assert.match(refused.text, /more than 200 parameters/)
    assert.doesNotMatch((await ask(few)).text, /more than 200 parameters/)
  }
})
