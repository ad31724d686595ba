import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Database } from '../../src/stores/database.ts'
import { DependencyCache, memoryOf } from '../../src/stores/dependency-cache.ts'
import { sql } from '../../src/stores/sql.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { turns } from '../support/waiting.ts'

interface Row {
  readonly position?: string | null
  readonly subject?: string | null
}

/** A database server that answers each question for changes with the rows given next; without any, nothing has changed. */
function serverWith() {
  const server = {
    revision: 0,
    answers: [] as (readonly Row[] | Error)[],
    /** The snapshot that each question named: `undefined` for the first one. */
    known: [] as unknown[],
    hold: undefined as Promise<void> | undefined,
  }
  const database = {
    engine: 'postgres',
    get revision() {
      return server.revision
    },
    async all({ values }: { values: readonly unknown[] }) {
      server.known.push(values.find(value => typeof value === 'string' && value !== '*'))
      const answer = server.answers.shift() ?? []
      await server.hold
      if (answer instanceof Error) throw answer
      const rows = answer.map(({ position = null, subject = null }) => ({ position, subject }))
      return rows.some(({ position }) => position !== null)
        ? rows
        : [{ position: `s${server.known.length}`, subject: null }, ...rows]
    },
  }
  const clock = { now: 0 }
  const cache = new DependencyCache(database as unknown as Database, 100_000, { monotonic: () => clock.now })
  const loads: string[] = []
  const get = async (name: string): Promise<string | undefined> =>
    await cache.get(name, async () => {
      loads.push(name)
      return { value: name.toUpperCase(), subjects: [name, `of ${name}`], bytes: 10 }
    })
  return { server, cache, clock, loads, get }
}

test('every read outside a request asks what has changed since the last answer, and drops only that', async () => {
  const { server, loads, get } = serverWith()
  assert.deepEqual([await get('a'), await get('b'), await get('a')], ['A', 'B', 'A'])
  assert.deepEqual(server.known, [undefined, 's1', 's2'])
  assert.deepEqual(loads, ['a', 'b'])
  server.answers.push([{ subject: 'of a' }, { subject: 'other' }, { subject: null }])
  assert.deepEqual([await get('a'), await get('b')], ['A', 'B'])
  assert.deepEqual(loads, ['a', 'b', 'a'])
})

test('the snapshot that the server names counts for the next question, wherever it stands in the answer', async () => {
  const { server, get } = serverWith()
  server.answers.push([{ subject: 'x' }, { position: 'first' }], [{ position: 'second' }], [])
  for (let n = 0; n < 4; n++) await get('a')
  assert.deepEqual(server.known, [undefined, 'first', 'second', 's3'])
})

test('everything is dropped after 5,000 rows, or where the log does not reach back far enough', async () => {
  const many = (count: number): Row[] => Array.from({ length: count }, (_, n) => ({ subject: `other ${n}` }))
  for (const [rows, isKept] of [
    [many(4999), true],
    [many(5000), false],
    [[{ subject: '*' }], false],
    [[{ subject: 'b' }, { subject: '*' }], false],
    [[{ subject: '**' }], true],
  ] as const) {
    const { server, loads, get } = serverWith()
    await get('a')
    server.answers.push(rows)
    await get('a')
    assert.equal(loads.length, isKept ? 1 : 2, JSON.stringify(rows.slice(0, 2)))
  }
})

test('a request asks once in a second, and again after this process has written', async () => {
  const { server, cache, clock, get } = serverWith()
  const questions = (): number => server.known.length
  await cache.during(async () => {
    await get('a')
    clock.now = 999
    await get('b')
    assert.equal(questions(), 1)
    clock.now = 1000
    await get('a')
    assert.equal(questions(), 2)
    server.revision++
    await get('a')
    assert.equal(questions(), 3)
    await get('a')
    assert.equal(questions(), 3)
  })
  await cache.during(() => get('a'))
  assert.equal(questions(), 4, 'another request knows nothing yet')
})

test('after very many changes everything is dropped, also what was being loaded meanwhile', async () => {
  const { server, cache, get, loads } = serverWith()
  await get('a')
  const change = async (from: number, count: number): Promise<void> => {
    server.answers.push(Array.from({ length: count }, (_, n) => ({ subject: `other ${from + n}` })))
    await cache.get('nothing', async () => undefined)
  }
  for (let n = 0; n < 5; n++) await change(n * 4900, 4900)
  await get('a')
  assert.deepEqual(loads, ['a'])
  const meanwhile = () =>
    cache.get('b', async () => {
      loads.push('b')
      await change(0, 1)
      return { value: 'B', subjects: ['b'], bytes: 10 }
    })
  await meanwhile()
  await get('a')
  assert.deepEqual(loads, ['a', 'b', 'a'])
  await cache.get('b', async () => {
    loads.push('b again')
    return { value: 'B', subjects: ['b'], bytes: 10 }
  })
  assert.equal(loads.at(-1), 'b again')
})

test('those who ask while a question is under way share the next one', async () => {
  const { server, get } = serverWith()
  await get('a')
  let answer = (): void => {}
  server.hold = new Promise(resolve => (answer = resolve))
  const first = get('a')
  await turns(2)
  assert.equal(server.known.length, 2)
  const others = [get('a'), get('a'), get('a')]
  await turns(2)
  assert.equal(server.known.length, 2)
  server.hold = undefined
  answer()
  assert.deepEqual(await Promise.all([first, ...others]), ['A', 'A', 'A', 'A'])
  assert.equal(server.known.length, 3)
})

test('a question that fails fails its reads and no later one', async () => {
  const { server, loads, get } = serverWith()
  await get('a')
  const lost = new Error('lost')
  server.answers.push(lost)
  await assert.rejects(get('a'), lost)
  assert.equal(await get('a'), 'A')
  assert.deepEqual(loads, ['a'])
  assert.deepEqual(server.known, [undefined, 's1', 's1'])
})

test('a database in memory has nothing cached, and a request there is only run', async t => {
  const database = await openSqliteDatabase(':memory:')
  t.after(() => database.close())
  const cache = new DependencyCache(database, 100_000, { monotonic: () => 0 })
  let loads = 0
  const load = async () => ({ value: ++loads, subjects: ['a'], bytes: 1 })
  assert.deepEqual([await cache.get('a', load), await cache.get('a', load)], [1, 2])
  assert.equal(await cache.get('b', async () => undefined), undefined)
  assert.deepEqual(cache.load, { values: 0, bytes: 0 })
  assert.equal(
    cache.during(() => 7),
    7,
  )
})

test('a text takes a byte for each character, or two where a character needs them', () => {
  for (const [text, bytes] of [
    ['', 0],
    ['abc', 3],
    ['äöÿ', 3],
    ['aĀ', 4],
    ['a\uffff', 4],
    ['😀', 4],
  ] as const)
    assert.equal(memoryOf(text), bytes, text)
})

test('values that share a subject are dropped together, also after one of them was dropped for another reason', async () => {
  const { server, cache } = serverWith()
  const loads: string[] = []
  const get = (name: string) =>
    cache.get(name, async () => {
      loads.push(name)
      return { value: name, subjects: [`own ${name}`, 'shared'], bytes: 10 }
    })
  for (const name of ['a', 'b', 'c']) await get(name)
  server.answers.push([{ subject: 'own a' }])
  await get('b')
  server.answers.push([{ subject: 'own c' }])
  await get('b')
  server.answers.push([{ subject: 'shared' }])
  await get('b')
  assert.deepEqual(loads, ['a', 'b', 'c', 'b'])
  await get('a')
  server.answers.push([{ subject: 'shared' }])
  assert.deepEqual([await get('a'), await get('b')], ['a', 'b'])
  assert.deepEqual(loads.slice(4), ['a', 'a', 'b'])
})

test('on SQLite the log is read only after a commit', async t => {
  const database = await openSqliteDatabase(join(await temporaryFolder(), 'store.sqlite'))
  t.after(() => database.close())
  await database.run(sql`CREATE TABLE change_log (number INTEGER PRIMARY KEY AUTOINCREMENT, subject TEXT NOT NULL)`)
  let questions = 0
  const counted = new Proxy(database, {
    get(target, name) {
      if (name === 'all') questions++
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const cache = new DependencyCache(counted, 100_000, { monotonic: () => 0 })
  let loads = 0
  const get = (name: string) => cache.get(name, async () => ({ value: ++loads, subjects: [name], bytes: 1 }))
  assert.equal(await get('a'), 1)
  assert.equal(await get('a'), 1)
  assert.equal(await get('b'), 2)
  assert.deepEqual([await get('a'), await get('b'), questions], [1, 2, 1])
  await database.run(sql`INSERT INTO change_log (subject) VALUES ('a')`)
  assert.deepEqual([await get('b'), questions], [2, 2])
  assert.deepEqual([await get('a'), await get('a'), await get('b'), questions], [3, 3, 2, 2])
})
