import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessChange, membersChange } from '../../src/content/change-events.ts'
import { principalUri } from '../../src/model/addresses.ts'
import { newEntry } from '../../src/model/entry.ts'

const withAcl = (acl: Readonly<Record<string, readonly string[]>>) =>
  newEntry({ context: '3', id: '7', by: undefined, now: 0, acl })

test('the order of names in a slot and empty slots make no change', () => {
  const [a, b] = [principalUri('a'), principalUri('b')]
  assert.equal(accessChange(withAcl({ mread: [a, b] }), withAcl({ mread: [b, a], rread: [] })), undefined)
  assert.equal(membersChange('g', ['a', 'b'], ['b', 'a']), undefined)
})

test('a long list is recorded with the number of names left out, and never with more than 2100 characters', () => {
  const many = Array.from({ length: 5000 }, (_, n) => principalUri(String(n)))
  const elsewhere = Array.from({ length: 40 }, (_, n) => `http://example.org/${'x'.repeat(200)}${n}`)
  const { detail } = accessChange(withAcl({ mread: many }), withAcl({ admin: elsewhere })) ?? {}
  assert.match(String(detail?.['before']), /^mread: 0, 1, .* and 4950 more$/)
  assert.ok(String(detail?.['after']).length <= 2100)
  assert.match(String(membersChange('g', [], many)?.detail?.['after']), / and 4950 more$/)
})
