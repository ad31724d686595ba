import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MailQueue } from '../../src/accounts/mail-queue.ts'
import { createLog } from '../../src/base/log.ts'
import { type Mail, MailFailure } from '../../src/stores/mailer.ts'
import { until } from '../support/waiting.ts'

const mailTo = (to: string): Mail => ({ to, subject: 's', text: 't', html: 'h' })

/** A queue over a mailer that does what it is told for each address. */
function setUp(pauses: readonly number[], deliver: (to: string, attempt: number) => Promise<void>) {
  const tried: string[] = []
  let closed = false
  const mailer = {
    send: ({ to }: Mail) => {
      tried.push(to)
      return deliver(to, tried.filter(one => one === to).length)
    },
    close: async () => {
      closed = true
    },
  }
  const queue = new MailQueue(mailer, createLog('silent'), pauses)
  const add = (to: string): void => queue.add(async () => mailTo(to))
  return { queue, tried, add, isClosed: () => closed }
}

test('a mail that fails is tried again after each pause, then given up; others go on meanwhile (D5.7)', async t => {
  const { queue, tried, add } = setUp([1, 1], async to => {
    if (to === 'busy') throw new MailFailure('not now', false)
  })
  t.after(() => queue.close())
  for (const to of ['busy', 'one', 'two']) add(to)
  await until(
    () => tried.length,
    length => length >= 5,
  )
  assert.deepEqual(tried, ['busy', 'one', 'two', 'busy', 'busy'])
  add('last')
  await until(
    () => tried.at(-1),
    to => to === 'last',
  )
})

test('a permanently refused mail is not sent again', async t => {
  const { queue, tried, add } = setUp([0, 0], async to => {
    if (to === 'gone') throw new MailFailure('never', true)
  })
  t.after(() => queue.close())
  add('gone')
  for (let round = 0; round < 5; round++) {
    add(`other-${round}`)
    await until(
      () => tried.at(-1),
      to => to === `other-${round}`,
    )
  }
  assert.equal(tried.filter(to => to === 'gone').length, 1)
})

test('a writer that fails or writes nothing costs no other mail', async t => {
  const { queue, tried, add } = setUp([], async () => undefined)
  t.after(() => queue.close())
  queue.add(() => Promise.reject(new Error('no database')))
  queue.add(async () => undefined)
  add('good')
  await until(
    () => tried.length,
    length => length === 1,
  )
})

test('closing drops waiting, paused and hanging mails, and then closes the mailer', async () => {
  const { queue, tried, add, isClosed } = setUp([60_000], to =>
    to === 'busy' ? Promise.reject(new MailFailure('not now', false)) : new Promise(() => undefined),
  )
  for (const to of ['busy', 'hangs', 'waits']) add(to)
  await until(
    () => tried.length,
    length => length === 2,
  )
  await queue.close()
  assert.equal(isClosed(), true)
  assert.deepEqual(tried, ['busy', 'hangs'])
})

test('a mail that comes in any moment of the one before is sent', async t => {
  for (let moments = 0; moments < 20; moments++) {
    const { queue, tried, add } = setUp([], async () => undefined)
    t.after(() => queue.close())
    queue.add(async () => undefined)
    for (let moment = 0; moment < moments; moment++) await Promise.resolve()
    add('good')
    await until(
      () => tried.length,
      length => length === 1,
    )
  }
})

test('more mails than a thousand are dropped, not kept in memory', async () => {
  const { queue, tried, add } = setUp([], () => new Promise(() => undefined))
  for (let number = 0; number < 1200; number++) add(`user-${number}`)
  let written = 0
  queue.add(async () => {
    written++
    return undefined
  })
  await until(
    () => tried.length,
    length => length === 1,
  )
  await queue.close()
  assert.equal(written, 0)
})
