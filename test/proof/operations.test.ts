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

test('a killed program has done the first entries of an operation, and nothing of the others (D51.4, D51.8)', async t => {
  const run = { operations: isLong ? 200 : 4, seed: proofSeed(), sessions: 'memory', isKilled: true } as const
  assert.ok((await proveOperations(t, run)).entries > 0)
})
