import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLong, proofSeed } from '../support/proofs.ts'
import { proveFuzz } from './fuzz.ts'

const cases = isLong ? 40 : 3

test('any input of strangers is answered or rejected, with limited work, and leaves nothing in memory', async () => {
  assert.ok((await proveFuzz({ after }, { cases, seed: proofSeed() })).refused > 0)
})
