import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { Overloaded } from '../../src/base/errors.ts'
import { SharedMemory } from '../../src/stores/shared/shared-memory.ts'
import { STRIPES, SharedTable, tableWords } from '../../src/stores/shared/shared-table.ts'
import { classBytes, MAX_SIZE, SIZE_CLASSES, sizeClass } from '../../src/stores/shared/size-class.ts'

const BYTES = 2 ** 22
const newTable = (max?: number, bytes = BYTES) => {
  const memory = new SharedMemory(undefined, bytes)
  const at = memory.allocate(tableWords(max))
  return { memory, at, table: new SharedTable(memory, at, max) }
}
const listed = (table: SharedTable) =>
  [...table.slices()].flatMap(slice => slice.map(({ key, text, expires }) => [key, text, expires] as const))

test('whatever is written, changed, removed and swept, a table behaves like a map with versions', () => {
  const key = fc.constantFrom('a', 'b', 'ä:1', 'x'.repeat(60), ...Array.from({ length: 40 }, (_, n) => `k${n}`))
  const step = fc.record({
    verb: fc.constantFrom('write', 'write', 'write', 'stale', 'remove', 'pass', 'sweep'),
    key,
    size: fc.oneof(fc.nat(20), fc.nat(600)),
    lifetime: fc.nat(30),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 150 }), fc.boolean(), (steps, isLimited) => {
      // With a limit that is never reached a table is one stripe, in order of insertion.
      const { table } = newTable(isLimited ? 1000 : undefined)
      const model = new Map<string, { text: string; expires: number }>()
      let now = 0
      const live = (one: string) => {
        const found = model.get(one)
        return found && found.expires > now ? found : undefined
      }
      for (const [index, { verb, key, size, lifetime }] of steps.entries()) {
        const text = `${index}${'ü'.repeat(size)}`
        const old = table.read(key, now)
        assert.deepEqual(old && { text: old.text, expires: old.expires }, live(key))
        const expires = now + lifetime
        if (verb === 'write') {
          assert.equal(table.write(key, text, { now, expires, expected: old?.version }), true)
          // A live key keeps its position.
          if (!live(key)) model.delete(key)
          model.set(key, { text, expires })
        } else if (verb === 'stale') {
          const wrong = old ? old.version + 1 : 1
          assert.equal(table.write(key, text, { now, expires, expected: wrong }), false)
          const isHeld = isPresent(table, key)
          assert.equal(table.remove(key, now, wrong), old === undefined && isHeld)
          if (!old) model.delete(key)
        } else if (verb === 'remove') {
          assert.equal(table.remove(key, now, old?.version), true)
          model.delete(key)
        } else if (verb === 'pass') now += lifetime
        else table.sweep(1_000_000, now)
        if (verb === 'sweep') {
          const left = [...model].filter(([, { expires }]) => expires > now).map(([name]) => name)
          const found = listed(table).map(([name]) => name)
          // The sweep of a stripe may begin in the middle of it.
          assert.deepEqual(
            left.filter(name => !found.includes(name)),
            [],
          )
        }
      }
      const expected = [...model].filter(([, { expires }]) => expires > now)
      const found = listed(table).filter(([, , expires]) => expires > now)
      const order = (rows: readonly (readonly [string, string, number])[]) =>
        isLimited ? rows : [...rows].sort(([a], [b]) => (a < b ? -1 : 1))
      assert.deepEqual(order(found), order(expected.map(([name, { text, expires }]) => [name, text, expires] as const)))
    }),
    { numRuns: 150 },
  )
})

/** Whether a key is held, expired or not. */
const isPresent = (table: SharedTable, key: string): boolean => listed(table).some(([name]) => name === key)

test('a change does not take place unless the record is as it was read', () => {
  const { table } = newTable()
  const write = (text: string, expected: number | undefined) =>
    table.write('a', text, { now: 0, expires: 10, expected })
  assert.equal(write('one', 5), false)
  assert.equal(write('one', undefined), true)
  assert.equal(write('two', undefined), false)
  const first = table.read('a', 0)
  assert.equal(write('two', first?.version), true)
  assert.equal(write('three', first?.version), false)
  assert.equal(table.remove('a', 0, first?.version), false)
  assert.equal(table.remove('a', 0, undefined), false)
  assert.equal(table.read('a', 0)?.text, 'two')
  // An expired record is none, whatever version is expected to be there.
  assert.equal(table.read('a', 10), undefined)
  assert.equal(table.write('a', 'x', { now: 10, expires: 20, expected: first?.version }), false)
  assert.equal(table.remove('a', 10, undefined), true)
  assert.deepEqual([table.remove('a', 10, undefined), table.remove('a', 10, 3), table.size], [true, false, 0])
})

test('of a limited table the record inserted first makes room, also where it has been changed since', () => {
  const { table } = newTable(3)
  const write = (key: string, now = 0, expires = 100) =>
    assert.ok(table.write(key, key, { now, expires, expected: table.read(key, now)?.version }))
  for (const key of ['a', 'b', 'c']) write(key)
  write('a')
  write('d')
  assert.deepEqual(
    listed(table).map(([key]) => key),
    ['b', 'c', 'd'],
  )
  write('b', 0, 5)
  write('c', 0, 5)
  // What has expired goes first.
  write('e', 5, 300)
  assert.deepEqual(
    listed(table).map(([key]) => key),
    ['d', 'e'],
  )
  write('d', 100, 200)
  assert.deepEqual(
    listed(table).map(([key]) => key),
    ['e', 'd'],
  )
  assert.equal(table.size, 2)
})

test('records are listed in portions of 200, and changes between two portions neither repeat nor hide others', () => {
  const { table } = newTable(10_000)
  const name = (n: number) => `k${String(n).padStart(4, '0')}`
  const write = (n: number) => table.write(name(n), 'x', { now: 0, expires: 100, expected: undefined })
  for (let n = 0; n < 600; n++) write(n)
  const seen: string[] = []
  const sizes: number[] = []
  for (const slice of table.slices()) {
    sizes.push(slice.length)
    for (const { key } of slice) seen.push(key)
    if (sizes.length > 1) continue
    // The last record that was listed goes, its place is used for another one, and the next one goes too.
    assert.ok(table.remove(name(199), 0, table.read(name(199), 0)?.version))
    write(1000)
    assert.ok(table.remove(name(200), 0, table.read(name(200), 0)?.version))
    assert.ok(table.remove(name(0), 0, table.read(name(0), 0)?.version))
  }
  const rest = Array.from({ length: 399 }, (_, n) => name(201 + n))
  assert.deepEqual(seen, [...Array.from({ length: 200 }, (_, n) => name(n)), ...rest, name(1000)])
  assert.deepEqual(sizes, [200, 200, 200])
})

test('a sweep checks as many records as it is told, in circles', () => {
  const { table } = newTable(1000)
  for (let n = 0; n < 10; n++) table.write(`k${n}`, 'x', { now: 0, expires: n % 2 ? 10 : 1000, expected: undefined })
  // Each insertion has moved the place where the next sweep begins; the end of a circle ends a sweep.
  for (let sweeps = 0; sweeps < 20; sweeps++) table.sweep(3, 10)
  assert.deepEqual(
    listed(table).map(([key]) => key),
    ['k0', 'k2', 'k4', 'k6', 'k8'],
  )
  table.sweep(0, 5000)
  assert.equal(table.size, 5)
  const before = table.size
  table.sweep(1, 5000)
  assert.ok(before - table.size <= 1)
  for (let sweeps = 0; sweeps < 10; sweeps++) table.sweep(1, 5000)
  assert.equal(table.size, 0)
  table.sweep(100, 5000)
  assert.ok(table.write('again', 'x', { now: 0, expires: 10, expected: undefined }))
  assert.deepEqual(listed(table), [['again', 'x', 10]])
})

test('a key may have 4,092 bytes, and key and value together 16 MiB without the head of a record', () => {
  const { table } = newTable(10, 2 ** 26)
  const write = (key: string, text: string) => table.write(key, text, { now: 0, expires: 10, expected: undefined })
  assert.ok(write('k'.repeat(4092), 'x'))
  assert.equal(table.read('k'.repeat(4092), 0)?.text, 'x')
  for (const length of [4093, 4096, 5000])
    assert.throws(() => write('k'.repeat(length), 'x'), { name: 'RangeError', message: 'the key is too long' })
  const largest = MAX_SIZE - 48 - 1
  assert.ok(write('a', 'x'.repeat(largest)))
  assert.equal(table.read('a', 0)?.text.length, largest)
  assert.throws(() => write('b', 'x'.repeat(largest + 1)), {
    name: 'Overloaded',
    message: 'Too many records have the same key.',
  })
  assert.equal(table.read('b', 0), undefined)
})

test('memory that is freed is used again', () => {
  const { table, memory } = newTable(undefined, 2 ** 24)
  const round = (size: number): void => {
    for (let n = 0; n < 300; n++) {
      const key = `k${n}`
      assert.ok(table.write(key, 'x'.repeat(size), { now: 0, expires: 10, expected: table.read(key, 0)?.version }))
    }
    for (let n = 0; n < 300; n++) assert.ok(table.remove(`k${n}`, 0, table.read(`k${n}`, 0)?.version))
  }
  round(100)
  round(3000)
  const after = memory.shared.byteLength
  for (let rounds = 0; rounds < 30; rounds++) round(rounds % 2 ? 100 : 3000)
  assert.equal(memory.shared.byteLength, after)
  assert.equal(table.size, 0)
})

test('memory is given out in multiples of four words, one piece after the other, up to its end', () => {
  const memory = new SharedMemory(undefined, 2 ** 16)
  const first = memory.allocate(5)
  assert.equal(first, SharedMemory.first)
  assert.equal(memory.allocate(4), first + 8)
  assert.equal(memory.allocate(1), first + 12)
  const rest = 2 ** 14 - (first + 16)
  assert.throws(
    () => memory.allocate(rest + 1),
    (error: unknown) =>
      error instanceof Overloaded && error.message === 'Too many logins and counters are kept at once.',
  )
  assert.equal(memory.allocate(rest), first + 16)
  assert.throws(() => memory.allocate(1), Overloaded)
  assert.equal(memory.sleeps, 0)
})

test('memory grows for all who share it, and keeps what it holds', () => {
  const one = new SharedMemory(undefined, 2 ** 23)
  const other = new SharedMemory(one.shared)
  assert.equal(one.shared.byteLength, 2 ** 20)
  const at = one.allocate(10)
  assert.equal(one.shared.byteLength, 2 ** 20, 'it grows only where it has to')
  one.write('äbc', at * 4, 4)
  const large = other.allocate(2 ** 18)
  assert.ok(one.shared.byteLength >= 2 ** 21)
  other.write('far', large * 4 + 2 ** 20 - 3, 3)
  assert.deepEqual(
    [other.text(at * 4, at * 4 + 4), one.text(large * 4 + 2 ** 20 - 3, large * 4 + 2 ** 20)],
    ['äbc', 'far'],
  )
  // It doubles where that is enough, and takes what is needed where it is not.
  const before = one.shared.byteLength
  one.allocate(before / 4 + 100)
  assert.ok(one.shared.byteLength > before && one.shared.byteLength <= 2 ** 23)
})

test('a table finds and keeps its records in memory that another thread has made larger', () => {
  const memory = new SharedMemory(undefined, 2 ** 24)
  const at = memory.allocate(tableWords())
  const one = new SharedTable(memory, at)
  const other = new SharedTable(new SharedMemory(memory.shared), at)
  const before = memory.shared.byteLength
  const text = (round: number, n: number) => `${round} ${n} ${'x'.repeat(400 * round)}`
  const numbers = Array.from({ length: 3000 }, (_, n) => n)
  for (const [round, writer, reader] of [
    [1, one, other],
    [2, other, one],
    [3, one, other],
  ] as const) {
    for (const n of numbers) {
      const write = { now: 0, expires: 1, expected: reader.read(`k${n}`, 0)?.version }
      assert.equal(writer.write(`k${n}`, text(round, n), write), true)
    }
    for (const n of numbers) assert.equal(reader.read(`k${n}`, 0)?.text, text(round, n))
  }
  assert.ok(memory.shared.byteLength > before)
  assert.equal(listed(other).length, numbers.length)
})

test('every size class holds its sizes and no class is larger than a quarter more than needed', () => {
  assert.equal(sizeClass(MAX_SIZE), SIZE_CLASSES - 1)
  assert.equal(classBytes(SIZE_CLASSES - 1), MAX_SIZE)
  for (let index = 0; index < SIZE_CLASSES; index++) {
    const bytes = classBytes(index)
    assert.equal(sizeClass(bytes), index)
    assert.equal(sizeClass(bytes + 1), index + 1)
    assert.equal(bytes % 16, 0)
  }
  assert.deepEqual([1, 16, 17, 128, 129, 160, 161].map(sizeClass), [0, 0, 1, 7, 8, 8, 9])
  assert.deepEqual([tableWords(), tableWords(5)], [STRIPES * tableWords(5), tableWords(1)])
})
