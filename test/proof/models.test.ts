import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proveLedger } from './ledger-model.ts'
import { proveLockout } from './lockout-model.ts'

// Together about a hundred thousand operations with CI=true, by how long a sequence is on average.
const isCi = process.env['CI'] === 'true'

test('whatever is tried and however the clocks move, the lockout does what the model of D6 does', async () => {
  assert.ok((await proveLockout({ runs: isCi ? 1500 : 300 })) > 0)
})

for (const { enforced, defaultQuota } of [
  { enforced: true, defaultQuota: 1000 },
  { enforced: true, defaultQuota: -1 },
  { enforced: false, defaultQuota: 100 },
]) {
  test(`the ledger agrees with a plain model: enforced ${enforced}, default ${defaultQuota} (D7.3)`, async () => {
    assert.ok((await proveLedger({ enforced, defaultQuota }, { runs: isCi ? 1500 : 100 })) > 0)
  })
}
