import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Extent, findLosses } from '../../src/features/backups/loss.ts'

interface Size {
  readonly entries?: number
  readonly files?: number
  readonly store?: string | undefined
  readonly damaged?: readonly string[]
  /** The place of the backup up to which losses are accepted. */
  readonly accepted?: string
}

/** For each backup, the place of the one that it has lost much of; `-` if it has not. */
function lost(...sizes: readonly Size[]): string {
  const extents: Extent[] = sizes.map(({ entries = 100, files = 100, accepted, damaged = [], ...rest }, number) => ({
    created: String(number),
    store: 'store' in rest ? rest.store : 'one',
    tables: [{ name: 'entries', rows: entries, sha256: '' }],
    files: { count: files },
    damaged,
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
  assert.equal(lost({}, { files: 1, accepted: '1' }, { files: 1 }, { files: 0 }), '- - - 2')
  assert.equal(lost({}, { files: 1, accepted: '1' }, { files: 0, accepted: '1' }), '- - 1')
  // The accepted backup is gone by now.
  assert.equal(lost({}, { files: 1, accepted: '0.5' }, { files: 0, accepted: '0.5' }), '- - 1')
})

test('a backup without the bytes of a file has lost much, unless they were lost before (D20.9)', () => {
  const [one, two] = [{ damaged: ['a'] }, { damaged: ['a', 'b'] }]
  assert.equal(lost({}, one, two, {}), '- 0 0 -')
  assert.equal(lost(one, one, two, two, one), '- - 1 1 -')
  assert.equal(lost({}, { ...one, accepted: '1' }, one, two), '- - - 2')
})

test('backups from before stores had a time are compared by their size only', () => {
  assert.equal(lost({ store: undefined }, { store: 'one' }, { store: 'one', files: 1 }), '- - 1')
})
