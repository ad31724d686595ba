import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { schema } from '../../src/assembly/stores.ts'

/** Each step of the schema that a store may already have taken, with the beginning of the digest of all that it says. */
const released: Readonly<Record<number, string>> = {
  1: '74de1b8eac9ada98',
  2: '835a6e4a494039c9',
  3: '817520eb0edbb53e',
  6: '19207d8423b30d20',
  7: '0199bc1293ec85ed',
  8: '97bde97f04e64c0d',
  9: '66e60f72daed3131',
  10: 'f8b3b8e67b83ad07',
  12: 'f38fc4d910e5137f',
  14: 'e96a94c643bf8c71',
  15: 'fcf36653aeadf123',
  20: '459e4795e0bb228e',
  22: 'e2e13b0203c8f610',
  23: 'c568ff6d0e28ba24',
  24: '3cc28e245114b4ca',
  25: '612b403ffa5ac933',
  26: '3ee536b703eb5e0a',
  27: '1e40734796e74380',
  31: 'd0f459fdcf4272b5',
  32: '277ddcce1e6f1ca7',
  33: '503c4bb7a59ed7c1',
  34: '4c4eb1df8959748c',
}

test('a step of the schema never changes once stores have taken it: a change needs a step of its own', () => {
  const digestOf = (id: number): string | undefined => {
    const step = schema.find(one => one.id === id)
    return step && createHash('sha256').update(JSON.stringify(step)).digest('hex').slice(0, 16)
  }
  const present = Object.fromEntries(Object.keys(released).map(id => [id, digestOf(Number(id))]))
  assert.deepEqual(present, released)
})

test('every step has an id of its own and a name', () => {
  assert.equal(new Set(schema.map(({ id }) => id)).size, schema.length)
  for (const { id, name, statements } of schema)
    assert.ok(Number.isSafeInteger(id) && id > 0 && name !== '' && statements.length > 0, `${id}`)
})
