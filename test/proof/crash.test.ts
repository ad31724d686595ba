import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { proveCrash } from './crash.ts'

const isCi = process.env['CI'] === 'true'

test('killed at any moment, the service keeps what it acknowledged, counts it right, and leaves nothing else (D7.4, D7.5)', async t => {
  const seed = Date.now() % 1_000_000
  const report = await proveCrash({ rounds: isCi ? 50 : 6, seed, folder: await temporaryFolder(t) })
  t.diagnostic(`seed ${seed}: ${report.acknowledged} changes acknowledged, ${report.uncertain} cut off`)
  assert.ok(report.acknowledged > report.rounds && report.uncertain > 0, 'there was something to lose')
  // The quickest, as other tests share the machine.
  assert.ok(Math.min(...report.starts) < 2000, `starts took ${report.starts.join(', ')} ms`)
})
