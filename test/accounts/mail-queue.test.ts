import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { MailQueue, type MailOutcome } from '../../src/mails/mail-queue.ts'
import { createLog, type Log } from '../../src/base/log.ts'
import { type Mail, MailFailure } from '../../src/mails/smtp-mailer.ts'
import { until } from '../support/waiting.ts'

const mailTo = (to: string): Mail => ({ to, subject: 's', text: 't', html: 'h' })

/** A queue over a mailer whose result the test sets for each address. */
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

test('a mail that fails is reported at first and at last, and one that is sent after a failure', async t => {
  const reported: MailOutcome[] = []
  const mailer = {
    send: async ({ to }: Mail): Promise<void> => {
      attempts.set(to, (attempts.get(to) ?? 0) + 1)
      if (to === 'good' || (to === 'late' && attempts.get(to) === 3)) return
      throw new MailFailure(`${to}: not now`, to === 'gone')
    },
    close: async () => {},
  }
  const attempts = new Map<string, number>()
  const queue = new MailQueue(mailer, createLog('silent'), [1, 1], outcome => reported.push(outcome))
  t.after(() => queue.close())
  for (const to of ['good', 'late', 'gone', 'busy']) queue.add(async () => mailTo(to))
  await until(
    () => reported.length,
    length => length >= 5,
  )
  const failed = (to: string, isFinal: boolean): MailOutcome => ({ to, failure: { why: `${to}: not now`, isFinal } })
  const byName = (name: string): readonly MailOutcome[] => reported.filter(({ to }) => to === name)
  assert.deepEqual(byName('good'), [])
  assert.deepEqual(byName('late'), [failed('late', false), { to: 'late' }])
  assert.deepEqual(byName('gone'), [failed('gone', true)])
  assert.deepEqual(byName('busy'), [failed('busy', false), failed('busy', true)])
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

/** A queue whose log and mails are kept. `send` decides about each mail. */
function recorded(send: (to: string) => Promise<void>, pauses?: readonly number[]) {
  const logged: unknown[][] = []
  const log = {
    warn: (...given: unknown[]) => logged.push(['warn', ...given]),
    error: (...given: unknown[]) => logged.push(['error', ...given]),
  }
  const tried: string[] = []
  const mailer = {
    send: async ({ to }: Mail) => {
      tried.push(to)
      await send(to)
    },
    close: async () => undefined,
  }
  const queue = new MailQueue(mailer, log as unknown as Log, pauses)
  return { queue, logged, tried, add: (to: string): void => queue.add(async () => mailTo(to)) }
}

const turns = async (count = 5): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await setImmediate()
}

test('a mail is tried four times within eleven minutes, and each failure is logged without the address', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const failure = new MailFailure('not now', false)
  const { queue, logged, tried, add } = recorded(() => Promise.reject(failure))
  add('busy')
  await turns()
  for (const [index, pause] of [5000, 60_000, 600_000].entries()) {
    assert.deepEqual(logged.splice(0), [['warn', { err: failure, retryInMs: pause }, 'a mail could not be sent yet']])
    t.mock.timers.tick(pause - 1)
    await turns()
    assert.equal(tried.length, index + 1)
    t.mock.timers.tick(1)
    await turns()
    assert.equal(tried.length, index + 2)
  }
  assert.deepEqual(logged, [['error', { err: failure }, 'a mail could not be sent']])
  await queue.close()
})

test('an error of another kind is tried again as well; a final failure is not', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { queue, logged, tried, add } = recorded(
    to => Promise.reject(to === 'odd' ? new Error('odd') : new MailFailure('never', true)),
    [1],
  )
  add('odd')
  add('gone')
  await turns()
  assert.deepEqual(
    logged.map(([level]) => level),
    ['warn', 'error'],
  )
  t.mock.timers.tick(1)
  await turns()
  assert.deepEqual(tried, ['odd', 'gone', 'odd'])
  await queue.close()
})

test('a thousand mails wait at most, with those that are tried again later; each one more is dropped and logged', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { queue, logged, add } = recorded(to =>
    to === 'busy' ? Promise.reject(new MailFailure('not now', false)) : new Promise(() => undefined),
  )
  add('busy')
  await turns()
  add('hangs')
  await turns()
  logged.length = 0
  for (let number = 0; number < 999; number++) add(`user-${number}`)
  assert.deepEqual(logged, [])
  const dropped = ['warn', 'too many mails are waiting: one was dropped']
  add('dropped')
  add('dropped too')
  assert.deepEqual(logged, [dropped, dropped])
  await queue.close()
})

test('a mail that is dropped while a thousand are tried again later does not stop the queue (D5.7)', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { queue, tried, add } = setUp([1], async (_to, attempt) => {
    if (attempt <= 1000) throw new MailFailure('not now', false)
  })
  for (let number = 0; number < 1000; number++) add('busy')
  await turns(2000)
  assert.equal(tried.length, 1000)
  add('dropped')
  t.mock.timers.tick(1)
  await turns(2000)
  assert.equal(tried.length, 2000, 'each is tried again')
  await queue.close()
})

test('a mail that is still being written when the queue closes is not sent; a queue without mails closes too', async () => {
  const { queue, tried } = recorded(async () => undefined)
  let write: (mail: Mail) => void = () => undefined
  queue.add(() => new Promise(resolve => (write = resolve)))
  const closed = queue.close()
  write(mailTo('late'))
  await closed
  assert.deepEqual(tried, [])
  await recorded(async () => undefined).queue.close()
})

test('a mail that fails while the queue closes is not tried again', async () => {
  let fail: (error: Error) => void = () => undefined
  const { queue, logged, tried, add } = recorded(() => new Promise((_resolve, reject) => (fail = reject)), [0])
  add('busy')
  await turns()
  const closed = queue.close()
  fail(new MailFailure('not now', false))
  await closed
  await turns()
  assert.deepEqual([tried, logged], [['busy'], []])
})

test('networks take turns, and one with many mails loses one to another (D35.24)', async t => {
  let free: () => void = () => {}
  const { queue, tried } = setUp([], async to => {
    if (to === 'first') await new Promise<void>(resolve => (free = resolve))
  })
  t.after(() => queue.close())
  const add = (to: string, network: string): void => queue.add(async () => mailTo(to), network)
  add('first', 'many')
  await until(
    () => tried.length,
    length => length === 1,
  )
  for (let n = 0; n < 1000; n++) add(`many-${n}`, 'many')
  add('one', 'few')
  free()
  await until(
    () => tried.length,
    length => length === 1001,
  )
  assert.ok(tried.indexOf('one') <= 2, String(tried.indexOf('one')))
  assert.ok(!tried.includes('many-999'))
})

test('many requests for mails to nobody let others run between them (D35.24)', async t => {
  const { queue } = setUp([], async () => {})
  t.after(() => queue.close())
  const order: string[] = []
  for (let n = 0; n < 3; n++) {
    queue.add(async () => {
      order.push(`mail ${n}`)
      return undefined
    })
  }
  void setImmediate().then(() => order.push('other'))
  await until(
    () => order.length,
    length => length === 4,
  )
  assert.ok(order.indexOf('other') < 3, order.join(', '))
})
