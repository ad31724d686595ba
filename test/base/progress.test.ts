import assert from 'node:assert/strict'
import { test } from 'node:test'
import { counter, lineProgress, terminalProgress } from '../../src/base/progress.ts'
import { FakeSystem } from '../support/fake-system.ts'

test('on a terminal long work shows a bar, what it does, how far it is, its rate and the remaining time', () => {
  const system = new FakeSystem('progress')
  const lines: string[] = []
  const progress = terminalProgress(text => lines.push(text), system)
  progress.begin('Reading repository.nq', 1000)
  system.pass(10_000)
  progress.at(250, '2000 quads/s')
  // At most two lines a second: what comes meanwhile is not shown.
  progress.at(251, '2000 quads/s')
  system.pass(10_000)
  progress.at(500, '1900 quads/s')
  progress.end()
  progress.begin('Converting entries', undefined)
  system.pass(600_000)
  progress.at(7)
  progress.end()
  const erase = '\r\u001b[K'
  assert.deepEqual(lines, [
    `${erase}Reading repository.nq: [#####...............] 25 %, 2000 quads/s, 30 s left`,
    `${erase}Reading repository.nq: [##########..........] 50 %, 1900 quads/s, 20 s left`,
    erase,
    `${erase}Converting entries: 7`,
    erase,
  ])
  progress.begin('Copying files', 4)
  system.pass(600_000)
  progress.at(1)
  assert.equal(lines.at(-1), `${erase}Copying files: [#####...............] 25 %, 30 min left`)
})

test('how long the work still takes is shown only when one percent is done', () => {
  const system = new FakeSystem()
  const lines: string[] = []
  const progress = lineProgress(text => lines.push(text), system)
  progress.begin('Filling the search index', 1000)
  system.pass(10_000)
  progress.at(9)
  system.pass(10_000)
  progress.at(10)
  assert.deepEqual(lines, ['Filling the search index: 0 %', 'Filling the search index: 1 %, 33 min left'])
})

test('elsewhere long work prints a line every ten seconds, whatever step it is in, and not before', () => {
  const system = new FakeSystem()
  const lines: string[] = []
  const progress = lineProgress(text => lines.push(text), system)
  const file = counter(progress, 'Copying files', 200)
  for (let number = 0; number < 49; number++) file()
  system.pass(9999)
  const row = counter(progress, 'Rows of entries', undefined)
  row()
  assert.deepEqual(lines, [])
  system.pass(1)
  row()
  row()
  const other = counter(progress, 'Verifying files', 4)
  system.pass(10_000)
  other()
  progress.end()
  assert.deepEqual(lines, ['Rows of entries: 2', 'Verifying files: 25 %, 30 s left'])
})
