import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { isLong, proofSeed } from '../support/proofs.ts'
import { proveFuzz } from './fuzz.ts'

const cases = isLong ? 40 : 3

test('whatever strangers send is answered or refused, at once and without a trace', async () => {
  assert.ok((await proveFuzz({ after }, { cases, seed: proofSeed() })).refused > 0)
})
