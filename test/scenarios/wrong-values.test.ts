import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newContext, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const context = await newContext(admin)

const detailOf = (answer: { readonly status: number; json: () => Record<string, unknown> }): unknown => {
  assert.equal(answer.status, 400)
  return answer.json()['detail']
}

test('the refusal of a wrong parameter says what it must be and what it is', async () => {
  const wrong: ReadonlyArray<readonly [path: string, detail: string]> = [
    ['search?type=foo&query=title:x', '`type` must be `solr`, but is "foo".'],
    ['search?type=solr&query=title:x&limit=abc', '`limit` must be a whole number, but is "abc".'],
    [
      'search?type=solr&query=title:x&sort=title%20upward',
      '`sort` must have the form `field asc,field desc`, but has "title upward".',
    ],
  ]
  for (const [path, detail] of wrong) assert.equal(detailOf(await admin.get(path)), detail)
  const kind = await admin.post(`${context}?entrytype=foo`)
  assert.match(String(detailOf(kind)), /^`entrytype` must be one of .*, but is "foo"\.$/)
  const id = await admin.post(`${context}?id=bad%20id`)
  assert.match(String(detailOf(id)), /^`id` must consist of .*, but is "bad id"\.$/)
})

test('the refusal of a wrong member shows the value, but not a text that may be a password', async () => {
  const scopes = { name: 'one', expires: '2099-01-01', scopes: ['all'] }
  assert.equal(
    detailOf(await admin.post('auth/access-tokens', scopes)),
    'The body does not have the expected form: body.scopes[0] must be one of read, write, quota, admin, but is "all".',
  )
  const name = { ...scopes, scopes: ['read'], name: 12345 }
  assert.equal(
    detailOf(await admin.post('auth/access-tokens', name)),
    'The body does not have the expected form: body.name must be a string, but is 12345.',
  )
  const user = { resource: { name: 'mia', password: ['secret-Password-1'] } }
  const answer = await admin.post('_principals?graphtype=user', user)
  assert.equal(answer.status, 400)
  assert.ok(!answer.text.includes('secret-Password-1'))
})
