import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLong, proofSeed } from '../support/proofs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { proveCrash } from './crash.ts'

test('killed at any moment, the service keeps every acknowledged change, counts correctly and leaves nothing else behind (D7.4, D7.5)', async t => {
  const seed = proofSeed()
  const report = await proveCrash({ rounds: isLong ? 50 : 4, seed, folder: await temporaryFolder() })
  t.diagnostic(`seed ${seed}: ${report.acknowledged} changes acknowledged, ${report.uncertain} cut off`)
  assert.ok(report.acknowledged > report.rounds && report.uncertain > 0, 'there was something to lose')
})
