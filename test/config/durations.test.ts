import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDuration } from '../../src/config/quantities.ts'

test('a duration is a whole number with a unit; no unit means milliseconds (D10.4)', () => {
  const durations: Readonly<Record<string, number>> = {
    '0': 0,
    '250': 250,
    '250ms': 250,
    '5s': 5000,
    '5m': 300_000,
    '5M': 300_000,
    '2h': 7_200_000,
    '1d': 86_400_000,
    '1500us': 1.5,
    '500us': 0.5,
    '1000000ns': 1,
  }
  for (const [text, time] of Object.entries(durations)) assert.equal(parseDuration(text), time, text)
})

test('m are minutes and ms milliseconds, whatever the case (D10.4)', () => {
  assert.equal(parseDuration('1m'), 60 * (parseDuration('1s') ?? 0))
  assert.equal(parseDuration('1MS'), 1)
})

test('fractions, signs, blanks, other units and overflow are not durations (D10.4)', () => {
  const wrong = ['', ' ', '1.5s', '-1', '-5m', '+1', '5 m', ' 5m', '5m ', '5min', '1w', 's', '1e3', '5m30s', '1h\n']
  const overflow = ['9007199254740992', '99999999999999d']
  for (const text of [...wrong, ...overflow]) assert.equal(parseDuration(text), undefined, JSON.stringify(text))
})
