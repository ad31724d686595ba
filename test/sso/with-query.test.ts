import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withQuery } from '../../src/base/with-query.ts'

test('parameters go behind those that are there and before the fragment; what was there stays to the letter', () => {
  const more = { error: 'a b&c', n: '1' }
  const added = 'error=a%20b%26c&n=1'
  assert.equal(withQuery('https://h/p', more), `https://h/p?${added}`)
  assert.equal(withQuery('https://h/p?', more), `https://h/p?${added}`)
  assert.equal(withQuery('https://h/p?x=1+2%20é', more), `https://h/p?x=1+2%20é&${added}`)
  assert.equal(withQuery('https://h/p?x&', more), `https://h/p?x&${added}`)
  assert.equal(withQuery('https://h/p#f?g', more), `https://h/p?${added}#f?g`)
})
