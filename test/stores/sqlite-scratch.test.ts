import assert from 'node:assert/strict'
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { openSqliteScratch } from '../../src/stores/sqlite/sqlite-scratch.ts'
import { sourceUrl, startChild } from '../support/child-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { eventually } from '../support/waiting.ts'

test('a map answers with its last values, and with those under a prefix in order', async t => {
  const scratch = await openSqliteScratch(await temporaryFolder())
  t.after(() => scratch.close())
  const [map, other] = [scratch.map(), scratch.map()]
  const keys = Array.from({ length: 450 }, (_, at) => `a:${String(at).padStart(3, '0')}`)
  for (const key of [...keys].reverse()) map.set(key, `v${key}`)
  map.set('a', 'before')
  map.set('b:0', 'after')
  map.set('a:001', 'replaced')
  other.set('a:000', 'of another map')
  assert.deepEqual([map.get('a:000'), map.get('a:001'), map.get('a:')], ['va:000', 'replaced', undefined])
  assert.deepEqual(
    [...map.under('a:')].map(([key]) => key),
    keys,
  )
  assert.deepEqual([...map.under('b:')], [['b:0', 'after']])
  assert.deepEqual([...map.under('c')], [])
})

test('values that are longer than a page are read one by one, and what is added behind is included', async t => {
  const scratch = await openSqliteScratch(await temporaryFolder())
  t.after(() => scratch.close())
  const map = scratch.map()
  const long = 'x'.repeat(2 ** 20 + 1)
  for (const key of ['1', '2', '3']) map.set(key, long)
  const found: string[] = []
  for (const [key, value] of map.under('')) {
    found.push(`${key} ${value.length}`)
    if (key === '2') map.set('4', '')
  }
  assert.deepEqual(found, [`1 ${long.length}`, `2 ${long.length}`, `3 ${long.length}`, '4 0'])
})

test('a scratch folder is for the owner only, and its end removes it and no other', async () => {
  const parent = join(await temporaryFolder(), 'work', 'scratch')
  const [one, two] = [await openSqliteScratch(parent), await openSqliteScratch(parent)]
  assert.equal((await stat(one.folder)).mode & 0o777, 0o700)
  assert.equal((await stat(parent)).mode & 0o777, 0o700)
  assert.equal(dirname(one.folder), parent)
  await one.close()
  assert.deepEqual(await readdir(parent), [two.folder.slice(parent.length + 1)])
  await two.close()
  assert.deepEqual(await readdir(parent), [])
})

test('the owner of the parent removes what a killed program has left, and the parent at the end', async () => {
  const parent = join(await temporaryFolder(), 'scratch')
  await mkdir(join(parent, 'stowage-scratch-killed'), { recursive: true })
  await writeFile(join(parent, 'stowage-scratch-killed', 'scratch.sqlite'), 'remains')
  const scratch = await openSqliteScratch(parent, { ownsParent: true })
  assert.deepEqual(await readdir(parent), [scratch.folder.slice(parent.length + 1)])
  await scratch.close()
  await assert.rejects(stat(parent), { code: 'ENOENT' })
})

test('a program that ends without closing leaves no scratch folder', async () => {
  const parent = await temporaryFolder()
  await startChild(`
    import { openSqliteScratch } from ${JSON.stringify(sourceUrl('stores/sqlite/sqlite-scratch.ts'))}
    const scratch = await openSqliteScratch(${JSON.stringify(parent)})
    scratch.map().set('a', 'b')
    console.log('ready')
    process.exit(0)
  `)
  await eventually('the folder is gone', async () => (await readdir(parent)).length === 0)
})
