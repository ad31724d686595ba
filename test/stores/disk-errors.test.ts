import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  Overloaded,
  StartupError,
  StorageFull,
  StorageReadOnly,
  StoreDamaged,
  StoreUnavailable,
} from '../../src/base/errors.ts'
import { DiskSpace, refusalFor, translateDiskError, withDiskErrors, withDiskErrorsAt } from '../../src/stores/disk.ts'
import { keptLog } from '../support/kept-log.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const errorWith = (more: object, message = 'x'): Error => Object.assign(new Error(message), more)

test('errors of a disk become those that tell an operator what to do (D20.4)', () => {
  for (const [error, kind] of [
    [errorWith({ code: 'ENOSPC' }), StorageFull],
    [errorWith({ code: 'EDQUOT' }), StorageFull],
    [errorWith({ code: 'EROFS' }), StorageReadOnly],
    [errorWith({ code: 'EIO' }), StoreUnavailable],
    [errorWith({ code: 'EMFILE' }), Overloaded],
    [errorWith({ code: 'ENFILE' }), Overloaded],
    [errorWith({ errcode: 13 }), StorageFull],
    [errorWith({ errcode: 8 }), StorageReadOnly],
    [errorWith({ errcode: 8 + 256 }), StorageReadOnly],
    [errorWith({ errcode: 10 }), StoreUnavailable],
    [errorWith({ errcode: 1034 }), StoreUnavailable],
    [errorWith({ errcode: 11 }), StoreDamaged],
    [errorWith({ errcode: 11 + 512 }), StoreDamaged],
    [errorWith({ errcode: 26 }), StoreDamaged],
    [errorWith({ errcode: 4874 }), StorageFull],
  ] as const) {
    const translated = translateDiskError(error)
    assert.ok(translated instanceof kind, JSON.stringify(error))
    assert.equal(translated.cause, error)
  }
  const { message, retryAfter, code } = translateDiskError(errorWith({ code: 'EMFILE' })) as Overloaded
  assert.deepEqual([message, retryAfter, code], ['The service has too many files open.', 5, 'overloaded'])
})

test('all other errors stay as they are', async () => {
  for (const error of [
    new Error('database or disk is full'),
    errorWith({ code: 'ENOENT' }),
    errorWith({ code: 'ERR_SQLITE_ERROR' }, 'syntax error'),
    errorWith({ errcode: 1 }),
    errorWith({ errcode: 5 }),
    Object.assign(new StorageFull(), { code: 'EROFS' }),
    'a text',
    undefined,
  ])
    assert.equal(translateDiskError(error), error)
  assert.equal(await withDiskErrors(Promise.resolve(7)), 7)
  await assert.rejects(withDiskErrors(Promise.reject(errorWith({ code: 'EROFS' }))), StorageReadOnly)
})

test('an error at another place names the place', async () => {
  for (const [error, message] of [
    [errorWith({ code: 'ENOSPC' }), 'The folder is full.'],
    [errorWith({ code: 'EIO' }, 'EIO: i/o error'), 'The disk of The folder reports an error: EIO: i/o error.'],
    [new StoreUnavailable('The database'), 'The database cannot be reached at the moment.'],
  ] as const)
    await assert.rejects(withDiskErrorsAt('The folder', Promise.reject(error)), { message })
})

test('what an operator learns when the program starts, a client learns as a refusal', () => {
  const full = refusalFor(new StartupError('x', { cause: errorWith({ code: 'EMFILE' }) }), 'The database')
  assert.ok(full instanceof Overloaded)
  const missing = new StartupError('x', { cause: errorWith({ code: 'ENOENT' }) })
  const refusal = refusalFor(missing, 'The database')
  assert.ok(refusal instanceof StoreUnavailable)
  assert.equal(refusal.cause, missing)
  const other = new Error('x')
  assert.equal(refusalFor(other, 'The database'), other)
})

async function openSpace(t: TestContext, { size = 100_000_000, alarm = 10_000_000, reserve = 4_000_000 } = {}) {
  const folder = await temporaryFolder()
  const disk = { identity: 'one', size, free: size, isWritable: true }
  const { log, said } = keptLog()
  let failure: Error | undefined
  const measure = async () => {
    if (failure) throw failure
    return { ...disk }
  }
  const space = await DiskSpace.open({ folder, alarm, reserve, log, measure })
  t.after(() => space.close())
  return { folder, disk, space, said, fail: (error: Error | undefined) => (failure = error) }
}

test('each change of the state is logged with its facts, at the level of its urgency (D20.4)', async t => {
  const { folder, disk, space, said } = await openSpace(t)
  for (const [change, level, text, before] of [
    [{ free: 9_999_999 }, 'warn', 'the disk of the data folder is getting full', 'ok'],
    [{ free: 3_999_999 }, 'error', 'the disk of the data folder is full: new data are refused', 'low'],
    [{ isWritable: false }, 'error', 'the data folder cannot be written to: changes are refused', 'full'],
    [
      { free: 10_000_000, isWritable: true },
      'info',
      'the disk of the data folder has enough free space again',
      'read-only',
    ],
  ] as const) {
    Object.assign(disk, change)
    const state = await space.check()
    const facts = { folder, state, before, free: disk.free, size: disk.size }
    assert.deepEqual(said(), [[level, text, facts]])
    await space.check()
    assert.deepEqual(said(), [])
  }
  assert.deepEqual([space.free, space.size], [10_000_000, 100_000_000])
})

test('a data folder that is gone, or is another one, refuses new data until the next start (D20.4)', async t => {
  const gone = Object.assign(new Error('no such file or directory, statfs'), { code: 'ENOENT' })
  for (const change of ['gone', 'another'] as const) {
    const { folder, disk, space, said, fail } = await openSpace(t)
    if (change === 'gone') fail(gone)
    else disk.identity = 'two'
    assert.equal(await space.check(), 'missing')
    const text = 'the data folder is missing, or another one is in its place: stop the service'
    assert.deepEqual(said(), [['error', text, { folder, before: 'ok' }]])
    assert.throws(() => space.requireSpace(), StoreUnavailable)
    await assert.rejects(space.requireHealthy(), {
      message: 'the data folder is missing, or another one is in its place',
    })
    fail(undefined)
    disk.identity = 'one'
    assert.equal(await space.check(), 'missing')
    assert.deepEqual(said(), [])
  }
})

test('alarm and reserve are limited to a part of a small disk (D20.4)', async t => {
  const { disk, space } = await openSpace(t, { size: 1000, alarm: 10_000, reserve: 10_000 })
  for (const [free, state] of [
    [200, 'ok'],
    [199, 'low'],
    [50, 'low'],
    [49, 'full'],
  ] as const) {
    disk.free = free
    assert.equal(await space.check(), state, `${free}`)
  }
})

test('the reserve is a quarter of what is reserved, at most 16 MiB, and stays as it is when it is there (D20.4)', async t => {
  const { folder, space } = await openSpace(t)
  const file = join(folder, 'reserve')
  assert.equal((await readFile(file)).length, 1_000_000)
  await writeFile(file, 'x'.repeat(1_000_000))
  await space.check()
  assert.equal((await readFile(file))[0], 120, 'a file of this size is not written again')
  await writeFile(file, 'short')
  await space.check()
  assert.equal((await readFile(file)).length, 1_000_000)
  const large = await openSpace(t, { size: 1e12, reserve: 1e10 })
  assert.equal((await readFile(join(large.folder, 'reserve'))).length, 2 ** 24)
  const none = await openSpace(t, { reserve: 3 })
  assert.deepEqual(await readdir(none.folder), [])
})

test('the reserve is released once less than half of its size is free, and not before (D20.4)', async t => {
  const { folder, disk, space, said } = await openSpace(t)
  disk.free = 500_000
  await space.check()
  assert.deepEqual(await readdir(folder), ['reserve'])
  said()
  disk.free = 499_999
  await space.check()
  assert.deepEqual(await readdir(folder), [])
  const [[level, text, { freed }] = ['', '', {}]] = said() as ReadonlyArray<
    readonly [unknown, unknown, Record<string, unknown>]
  >
  assert.deepEqual([level, text, freed], ['warn', 'the reserve was released so that data can be deleted', 1_000_000])
})

test('a disk that cannot be measured keeps its state, and one that cannot be written says so', async t => {
  const { folder, disk, space, said, fail } = await openSpace(t)
  disk.free = 9_999_999
  await space.check()
  said()
  fail(new Error('gone'))
  assert.equal(await space.check(), 'low')
  assert.deepEqual(
    said().map(([level, text]) => [level, text]),
    [['warn', 'the free space of the data folder could not be measured']],
  )
  fail(errorWith({ code: 'EIO' }))
  assert.equal(await space.check(), 'read-only')
  await assert.rejects(space.requireHealthy(), { message: 'the disk of the data folder is read-only' })
  fail(undefined)
  disk.free = disk.size
  assert.equal(await space.check(), 'ok')
  said()
  const { log, said: saidOfBlocked } = keptLog()
  const blocked = await DiskSpace.open({
    folder: join(folder, 'not', 'there'),
    alarm: 10,
    reserve: 1_000_000,
    log,
    measure: async () => ({ ...disk }),
  })
  t.after(() => blocked.close())
  const lines = saidOfBlocked()
  assert.deepEqual(
    lines.map(([level, text]) => [level, text]),
    [['warn', 'the reserve for a full disk could not be written']],
  )
  assert.match(String(lines[0]?.[2]['err']), /ENOENT/)
})
