import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemberIds } from '../../src/model/member-ids.ts'

/** Ids of different lengths, so that a wrong place in the text is noticed. */
const ids = (count: number): string[] => Array.from({ length: count }, (_, at) => 'x'.repeat(at % 5) + String(at))

test('the text and the parts of a list are those of its ids, at both sides of each kept place', () => {
  for (const count of [0, 1, 2, 127, 128, 129, 255, 256, 257, 400]) {
    const all = ids(count)
    const members = new MemberIds(all.join('/'))
    assert.equal(members.size, count)
    assert.equal(members.json, JSON.stringify(all))
    assert.equal(JSON.stringify(members), JSON.stringify(all))
    assert.deepEqual(members.slice(0), all)
    for (const offset of [0, 1, 127, 128, 129, 255, 256, count - 1, count, count + 1].filter(one => one >= 0)) {
      assert.deepEqual(members.slice(offset), all.slice(offset), `${count} from ${offset}`)
      for (const limit of [0, 1, 2, 127, 128, 129, 1000]) {
        const part = members.slice(offset, limit)
        assert.deepEqual(part, all.slice(offset, offset + limit), `${limit} of ${count} from ${offset}`)
      }
    }
  }
})

test('a list counts the memory of its text, of its compressed form and of a place for each 128 ids', () => {
  for (const count of [0, 1, 128, 129, 1000]) {
    const { bytes, json } = new MemberIds(ids(count).join('/'))
    const places = 8 * Math.ceil(count / 128)
    assert.ok(bytes >= json.length + places, `${count}: ${bytes}`)
    assert.ok(bytes <= 1.5 * json.length + places + 1, `${count}: ${bytes}`)
  }
})
