import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreUnavailable } from '../../src/base/errors.ts'
import { Outages } from '../../src/http/outages.ts'
import { keptLog } from '../support/kept-log.ts'

test('of many requests that fail because a store is away the first is logged, and the others are counted', t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { log, lines } = keptLog()
  const outages = new Outages(log)
  for (let count = 0; count < 1000; count++) outages.note(new StoreUnavailable('The database'), String(count))
  outages.note(new StoreUnavailable('The store of the files'), 'x')
  assert.equal(lines.length, 2)
  t.mock.timers.tick(5000)
  assert.equal(lines.length, 3)
  assert.match(JSON.stringify(lines[2]), /"requests":999/)
  outages.note(new StoreUnavailable('The database'), 'y')
  assert.equal(lines.length, 4)
})
