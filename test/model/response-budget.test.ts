import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ResponseBudget } from '../../src/model/response-budget.ts'

const KIB = 1024

test('of several entries each may have 512 KiB, and all together 4 MiB', () => {
  const budget = ResponseBudget.forMany()
  assert.equal(budget.maxEntry, 512 * KIB)
  budget.spend(4096 * KIB - 512 * KIB)
  assert.equal(budget.maxEntry, 512 * KIB)
  budget.spend(1)
  assert.equal(budget.maxEntry, 512 * KIB - 1)
  budget.spend(512 * KIB)
  assert.equal(budget.maxEntry, 0, 'nothing is left, and never less')
})

test('as many rows are read as fit, and no more than were asked for', () => {
  const budget = ResponseBudget.forMany()
  assert.equal(budget.rowsLeft(100, KIB), 100)
  assert.equal(budget.rowsLeft(5000, KIB), 4096)
  assert.equal(budget.rowsLeft(5000, 1000), 4194)
  budget.spend(4096 * KIB - 1)
  assert.equal(budget.rowsLeft(100, KIB), 0)
  budget.spend(10)
  assert.equal(budget.rowsLeft(100, KIB), 0)
})

test('a single entry is complete whatever its size', () => {
  const budget = ResponseBudget.forOne()
  budget.spend(2 ** 40)
  assert.equal(budget.maxEntry, Number.POSITIVE_INFINITY)
  assert.equal(budget.rowsLeft(7, 2 ** 40), 7)
})
