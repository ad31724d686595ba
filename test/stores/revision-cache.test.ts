import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RevisionCache } from '../../src/stores/revision-cache.ts'

/** Looks that are counted, on a database whose revision the test sets. */
function setUp(revision: number | undefined, most = 10) {
  const database = { revision }
  const unchanged = new RevisionCache<number>(database, most)
  let looks = 0
  const get = async (key: string, during: () => void = () => {}): Promise<number | undefined> =>
    await unchanged.get(key, async () => {
      looks++
      during()
      return key === 'nothing' ? undefined : looks
    })
  return { database, get, looks: () => looks }
}

test('what was found is found again while nothing changes, and looked for anew afterwards', async () => {
  const { database, get } = setUp(1)
  assert.deepEqual([await get('a'), await get('a'), await get('b'), await get('a')], [1, 1, 2, 1])
  database.revision = 2
  assert.deepEqual([await get('a'), await get('b')], [3, 4])
})

test('a look during which something changed is good for nobody else', async () => {
  const { database, get } = setUp(1)
  assert.equal(await get('a', () => (database.revision = 2)), 1)
  assert.equal(await get('a'), 2)
})

test('where others may change the store every look is a new one, and nothing found is looked for again', async () => {
  const { get, looks } = setUp(undefined)
  assert.deepEqual([await get('a'), await get('a')], [1, 2])
  const withExclusiveLock = setUp(1)
  assert.deepEqual(
    [await withExclusiveLock.get('nothing'), await withExclusiveLock.get('nothing')],
    [undefined, undefined],
  )
  assert.deepEqual([looks(), withExclusiveLock.looks()], [2, 2])
})

test('no more than so many are remembered', async () => {
  const { get } = setUp(1, 2)
  assert.deepEqual([await get('a'), await get('b'), await get('c'), await get('c'), await get('a')], [1, 2, 3, 3, 4])
})
