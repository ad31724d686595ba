import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Chores } from '../../src/base/chores.ts'
import { turns } from '../support/waiting.ts'

test('a chore that fails is logged by its name, and the others are done', async t => {
  const done: string[] = []
  const logged: unknown[] = []
  const chores = new Chores({ error: (...line: unknown[]) => void logged.push(line) }, [
    ['one', () => done.push('one')],
    ['two', () => Promise.reject(new Error('rejected'))],
    [
      'three',
      () => {
        throw new Error('thrown')
      },
    ],
    ['four', async () => done.push('four')],
  ])
  t.after(() => chores.close())
  await chores.run()
  assert.deepEqual(done, ['one', 'four'])
  assert.deepEqual(logged, [
    [{ err: new Error('rejected'), chore: 'two' }, 'a periodic task failed'],
    [{ err: new Error('thrown'), chore: 'three' }, 'a periodic task failed'],
  ])
})

test('a round is not begun while another one is under way, and closing waits for the chore under way only', async () => {
  let end = (): void => {}
  const begun: string[] = []
  const chores = new Chores({ error: assert.fail }, [
    ['one', () => (begun.push('one'), new Promise<void>(resolve => (end = resolve)))],
    ['two', () => begun.push('two')],
  ])
  const rounds = [chores.run(), chores.run()]
  let isClosed = false
  const closed = chores.close().then(() => (isClosed = true))
  await turns()
  assert.equal(isClosed, false)
  end()
  await Promise.all([...rounds, closed])
  assert.deepEqual(begun, ['one'])
  await chores.run()
  assert.deepEqual(begun, ['one'])
})
