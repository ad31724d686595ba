import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ScheduledJobs } from '../../src/base/scheduled-jobs.ts'
import { turns } from '../support/waiting.ts'

test('a job that fails is logged by its name, and the others are done', async t => {
  const done: string[] = []
  const logged: unknown[] = []
  const jobs = new ScheduledJobs({ error: (...line: unknown[]) => void logged.push(line) }, [
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
  t.after(() => jobs.close())
  await jobs.run()
  assert.deepEqual(done, ['one', 'four'])
  assert.deepEqual(logged, [
    [{ err: new Error('rejected'), job: 'two' }, 'a periodic task failed'],
    [{ err: new Error('thrown'), job: 'three' }, 'a periodic task failed'],
  ])
})

test('a round is not begun while another one is under way, and closing waits for the job under way only', async () => {
  let end = (): void => {}
  const begun: string[] = []
  const jobs = new ScheduledJobs({ error: assert.fail }, [
    ['one', () => (begun.push('one'), new Promise<void>(resolve => (end = resolve)))],
    ['two', () => begun.push('two')],
  ])
  const rounds = [jobs.run(), jobs.run()]
  let isClosed = false
  const closed = jobs.close().then(() => (isClosed = true))
  await turns()
  assert.equal(isClosed, false)
  end()
  await Promise.all([...rounds, closed])
  assert.deepEqual(begun, ['one'])
  await jobs.run()
  assert.deepEqual(begun, ['one'])
})

test('closing tells the job under way to end', async () => {
  const jobs = new ScheduledJobs({ error: assert.fail }, [
    ['one', signal => new Promise(resolve => signal.addEventListener('abort', resolve))],
  ])
  const round = jobs.run()
  await jobs.close()
  await round
})
