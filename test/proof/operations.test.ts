import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLong, proofSeed } from '../support/proofs.ts'
import { proveOperations } from './operations-model.ts'

for (const sessions of ['database', 'memory'] as const) {
  test(`operations do what single requests do, also when they are cancelled or a start interrupts them; sessions in ${sessions} (D51.3, D51.4, D51.5, D51.6)`, async t => {
    const report = await proveOperations(t, { operations: isLong ? 500 : 6, seed: proofSeed(), sessions })
    assert.ok(report.entries > report.failed && report.failed > 0)
  })
}
