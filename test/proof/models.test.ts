import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLong } from '../support/proofs.ts'
import { proveLedger } from './ledger-model.ts'
import { proveLockout } from './lockout-model.ts'
import { proveSessions } from './session-model.ts'

// Together more than a hundred thousand operations with PROOFS=long: a sequence has 30, 15 or 13 on average.

test('for all attempts and clock changes, the lockout agrees with the model of D6', async () => {
  assert.ok((await proveLockout({ runs: isLong ? 1500 : 300 })) > 0)
})

for (const where of ['memory', 'database'] as const) {
  test(`sessions in ${where} agree with the model of D2`, async () => {
    assert.ok((await proveSessions(where, { runs: isLong ? 1000 : 100 })) > 0)
  })
}

for (const { enforced, defaultQuota } of [
  { enforced: true, defaultQuota: 1000 },
  { enforced: true, defaultQuota: -1 },
  { enforced: false, defaultQuota: 100 },
]) {
  test(`the ledger agrees with a plain model: enforced ${enforced}, default ${defaultQuota} (D7.3)`, async () => {
    assert.ok((await proveLedger({ enforced, defaultQuota }, { runs: isLong ? 1500 : 100 })) > 0)
  })
}
