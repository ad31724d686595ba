import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTime } from '../../src/base/times.ts'

test('a day is its beginning in UTC, and a time counts in its zone', () => {
  assert.equal(parseTime('2028-02-29'), Date.UTC(2028, 1, 29))
  assert.equal(parseTime('2027-01-31T10:00Z'), Date.UTC(2027, 0, 31, 10))
  assert.equal(parseTime('2027-01-31T10:00:30.25+02:00'), Date.UTC(2027, 0, 31, 8, 0, 30, 250))
  assert.equal(parseTime('-000044-03-15'), Date.parse('-000044-03-15'))
})

test('days that do not exist, times without a zone and other texts are refused', () => {
  const refused = [
    '2027-02-29',
    '2027-02-30T10:00:00Z',
    '2027-04-31',
    '2027-13-01',
    '2027-01-32',
    '2027-01-31T25:00Z',
    '2027-01-31T10:00',
    '2027-01-31T10:00:00+0100',
    '2027-1-1',
    '31.1.2027',
    'tomorrow',
    ' 2027-01-31',
    '',
  ]
  for (const text of refused) assert.equal(parseTime(text), undefined, text)
})
