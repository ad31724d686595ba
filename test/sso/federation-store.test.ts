import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FederationEntity } from '../../src/features/saml/federation-entity.ts'
import { FederationStore } from '../../src/features/saml/federation-store.ts'
import { after } from '../support/after.ts'
import { newDatabase } from '../support/store.ts'
import { asStored, entityNamed, rowOf } from '../support/stored-federation.ts'

const store = new FederationStore(await newDatabase({ after }))

const ids = async (provider: string) => {
  const found: string[] = []
  for await (const { entityId } of store.list(provider)) found.push(entityId)
  return found
}
const replace = (
  provider: string,
  packs: ReadonlyArray<readonly FederationEntity[]>,
  dropped: readonly string[] = [],
) =>
  store.replace(
    provider,
    packs.map(entities => entities.map(rowOf)),
    new Set(dropped),
  )

test('an entity is found under its federation and id, as it was stored last (D31.1)', async () => {
  const [one, changed] = [entityNamed('urn:one'), entityNamed('urn:one', { keywords: 'new', categories: ['c'] })]
  await store.put('a', rowOf(one), undefined)
  assert.deepEqual(await store.find('a', 'urn:one'), { entity: asStored(one), freshUntil: undefined })
  assert.equal(await store.find('a', 'urn:two'), undefined)
  assert.equal(await store.find('b', 'urn:one'), undefined)
  await store.put('a', rowOf(changed), 1234)
  assert.deepEqual(await store.find('a', 'urn:one'), { entity: asStored(changed), freshUntil: 1234 })
  const listed = []
  for await (const entry of store.list('a')) listed.push(entry)
  assert.deepEqual(
    listed.map(({ entityId, categories, words }) => [entityId, categories, words.includes('new')]),
    [['urn:one', ['c'], true]],
  )
})

test('entities are listed in full, however many there are (D31.3)', async () => {
  for (const count of [199, 200, 201, 400]) {
    const all = Array.from({ length: count }, (_, at) => entityNamed(`urn:${String(at).padStart(3, '0')}`))
    await replace('many', [all])
    assert.deepEqual(
      await ids('many'),
      all.map(({ entityId }) => entityId),
    )
  }
})

test('a new document replaces the old one, and writes only what has changed (D31.1)', async () => {
  const [one, two, three] = [entityNamed('urn:1'), entityNamed('urn:2'), entityNamed('urn:3')]
  await store.put('other', rowOf(one), undefined)
  assert.deepEqual(await replace('doc', [[one, two], [three]]), { count: 3, changed: 3, removed: 0 })
  assert.deepEqual(await replace('doc', [[one], [two, three]]), { count: 3, changed: 0, removed: 0 })
  const changed = entityNamed('urn:2', { scopes: ['x'] })
  assert.deepEqual(await replace('doc', [[changed, three]]), { count: 2, changed: 1, removed: 1 })
  assert.deepEqual((await store.find('doc', 'urn:2'))?.entity, asStored(changed))
  assert.deepEqual(await ids('doc'), ['urn:2', 'urn:3'])
  assert.deepEqual(await replace('doc', [[one, changed, three]], ['urn:3', 'urn:1']), {
    count: 1,
    changed: 0,
    removed: 1,
  })
  assert.deepEqual(await ids('doc'), ['urn:2'])
  assert.deepEqual(await ids('other'), ['urn:1'])
})

test('entities are removed one by one, or all of a federation (D31.1)', async () => {
  const rows = ['urn:1', 'urn:2'].map(id => rowOf(entityNamed(id)))
  for (const provider of ['x', 'y']) for (const row of rows) await store.put(provider, row, undefined)
  await store.remove('x', 'urn:1')
  assert.deepEqual([await ids('x'), await ids('y')], [['urn:2'], ['urn:1', 'urn:2']])
  await store.clear('y')
  assert.deepEqual([await ids('x'), await ids('y')], [['urn:2'], []])
})

test('what is known of the document counts for its source only (D31.1)', async () => {
  const metadata = { validUntil: 5, cacheDuration: 6, unusable: 1, reasons: ['why'] }
  await store.heads.store('a', 'source', { metadata, loadedAt: 7 })
  assert.deepEqual(await store.heads.find('a', 'source'), { metadata, loadedAt: 7 })
  assert.equal(await store.heads.find('a', 'other source'), undefined)
  assert.equal(await store.heads.find('b', 'source'), undefined)
  await store.heads.store('a', 'other source', { metadata: { ...metadata, unusable: 2 }, loadedAt: 8 })
  assert.equal(await store.heads.find('a', 'source'), undefined)
  assert.equal((await store.heads.find('a', 'other source'))?.metadata.unusable, 2)
})
