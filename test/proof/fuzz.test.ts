import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { proveFuzz } from './fuzz.ts'

const cases = process.env['CI'] === 'true' ? 40 : 5

for (const [which, seed] of [
  ['the same', 8],
  ['by chance', Date.now() % 1_000_000],
] as const) {
  test(`whatever strangers send is answered or refused, at once and without a trace; seed ${which}`, async () => {
    assert.ok((await proveFuzz({ after }, { cases, seed })).refused > 0)
  })
}
