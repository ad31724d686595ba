import assert from 'node:assert/strict'
import { test } from 'node:test'
import { counter, progress, withProgress } from '../../src/commands/copied.ts'
import type { Source } from '../../src/backup/store-copy.ts'
import { FakeSystem } from '../support/fake-system.ts'

test('restore and migrate-store tell every ten seconds how far they are', async () => {
  const system = new FakeSystem()
  const rows = Array.from({ length: 7 }, (_, number) => ({ number }))
  const source: Source = {
    schema: 1,
    blobs: {} as Source['blobs'],
    async *rows() {
      for (const row of rows) {
        system.pass(4000)
        yield row
      }
    },
  }
  const lines: string[] = []
  const told = withProgress(
    source,
    progress(system, line => lines.push(line)),
  )
  const read = []
  for await (const row of told.rows({ name: 'files', key: [] })) read.push(row)
  assert.deepEqual(read, rows)
  assert.deepEqual(lines, ['3 rows of files …', '6 rows of files …'])
  assert.equal(told.schema, source.schema)
  assert.equal(told.blobs, source.blobs)
})

test('a count is told every ten seconds, and not before', () => {
  const system = new FakeSystem()
  const lines: string[] = []
  const count = counter(
    'files verified',
    progress(system, line => lines.push(line)),
  )
  for (let number = 0; number < 100; number++) count()
  assert.deepEqual(lines, [])
  system.pass(9999)
  count()
  assert.deepEqual(lines, [])
  system.pass(1)
  count()
  count()
  assert.deepEqual(lines, ['102 files verified …'])
})
