import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { isLong, proofSeed } from '../support/proofs.ts'
import { proveAccess } from './access-model.ts'
import { proveLedger } from './ledger-model.ts'
import { proveLockout } from './lockout-model.ts'
import { proveSessions } from './session-model.ts'
import { quotas } from '../support/quota.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// Together more than a hundred thousand operations with PROOFS=long: a sequence has 30, 15 or 13 on average.

for (const where of ['without', 'with'] as const) {
  test(`who may do what in folders agrees with a plain model, ${where} caches (D11.7, D11.8, D11.9)`, async () => {
    const file = where === 'with' ? join(await temporaryFolder(), 'store.sqlite') : ':memory:'
    const operations = isLong ? 20_000 : 400
    const { decisions, refused } = await proveAccess({ operations, seed: proofSeed(), file })
    assert.ok(decisions > operations && refused > 0 && refused < operations)
  })
}

test('for all attempts and clock changes, the lockout agrees with the model of D6', async () => {
  assert.ok((await proveLockout({ runs: isLong ? 1500 : 300 })) > 0)
})

for (const where of ['memory', 'database'] as const) {
  test(`sessions in ${where} agree with the model of D2`, async () => {
    assert.ok((await proveSessions(where, { runs: isLong ? 1000 : 100 })) > 0)
  })
}

for (const options of [
  quotas(1000, { defaults: { context: 1000, user: 700, providerUser: -1 } }),
  quotas(),
  quotas(100, { enforced: false }),
]) {
  const { enforced, defaults } = options
  test(`the ledger agrees with a plain model: enforced ${enforced}, default ${defaults.context} (D7.3)`, async () => {
    assert.ok((await proveLedger(options, { runs: isLong ? 1500 : 100 })) > 0)
  })
}
