import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Extent, findLosses } from '../../src/features/backups/loss.ts'

interface Size {
  readonly entries?: number
  readonly files?: number
  readonly store?: string | undefined
  readonly accepted?: boolean
}

/** For each backup, the place of the one that it has lost much of; `-` if it has not. */
function lost(...sizes: readonly Size[]): string {
  const extents: Extent[] = sizes.map(({ entries = 100, files = 100, accepted, ...rest }, number) => ({
    created: String(number),
    store: 'store' in rest ? rest.store : 'one',
    tables: [{ name: 'entries', rows: entries, sha256: '' }],
    files: { count: files },
    accepted,
  }))
  const losses = findLosses(extents)
  return extents.map(extent => losses.get(extent)?.before.created ?? '-').join(' ')
}

test('a backup has lost much when more than half of its entries or files are gone, or it is of another store (D20.9)', () => {
  assert.equal(lost({}, { entries: 50, files: 50 }), '- -')
  assert.equal(lost({}, { entries: 49 }), '- 0')
  assert.equal(lost({}, { files: 49 }), '- 0')
  assert.equal(lost({ entries: 0, files: 0 }, {}, { entries: 1000 }), '- - -')
  assert.equal(lost({}, { store: 'two' }), '- 0')
})

test('it is compared with the last backup that had no loss, until the store is back or the loss is accepted (D20.9)', () => {
  assert.equal(lost({}, {}, { files: 1 }, { files: 1 }, { files: 40 }, { files: 60 }, { files: 31 }), '- - 1 1 1 - -')
  assert.equal(lost({}, { store: 'two' }, { store: 'two', files: 1000 }, {}), '- 0 0 -')
  assert.equal(lost({}, { files: 1, accepted: true }, { files: 1 }, { files: 0 }), '- - - 2')
})

test('backups from before stores had a time are compared by their size only', () => {
  assert.equal(lost({ store: undefined }, { store: 'one' }, { store: 'one', files: 1 }), '- - 1')
})
