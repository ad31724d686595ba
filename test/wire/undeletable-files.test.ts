import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from '../../src/stores/sql.ts'
import { openStore } from '../support/accounts.ts'
import { startProcess } from '../support/service.ts'
import { eventually } from '../support/waiting.ts'

test('a service starts although the bytes of an interrupted upload cannot be deleted, and says so', async t => {
  const before = await startProcess(t)
  await before.stop()
  const { folder } = before
  const [kept, deleted] = ['00', 'ff'].map(digits => digits.repeat(20)) as [string, string]
  // A folder cannot be deleted as a file, whoever runs the test.
  await mkdir(join(folder, 'files', '00', kept), { recursive: true })
  const database = await openStore(t, before)
  await database.run(sql`INSERT INTO uploads (blob, context, reserved, expires) VALUES (${kept}, 'none', 1, 0)`)
  await database.run(sql`INSERT INTO discarded_blobs (blob) VALUES (${deleted})`)

  const service = await startProcess(t, { folder })
  await eventually('the other is deleted', async () => {
    const rows = await database.all<{ blob: string }>(sql`SELECT blob FROM discarded_blobs`)
    return rows.every(({ blob }) => blob === kept)
  })
  assert.equal(await service.stop(), 0)
  if (process.env['BLOBS'] === undefined) assert.match(service.output(), /deleting old files failed/)
})
