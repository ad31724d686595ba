import assert from 'node:assert/strict'
import { test } from 'node:test'
import { giveMemberships } from '../../src/accounts/groups.ts'
import { accountMatcher, rules } from '../support/account-matcher.ts'

test('a sign-on that changes nothing writes nothing, and one that fails is not tried again (D8.4)', async t => {
  const { signOn, runs, fail } = await accountMatcher(t)
  const attributes = { lang: 'sv', groups: ['one'] }
  await signOn({ attributes }, { rules })
  await signOn({ attributes }, { rules })
  assert.equal(runs(), 1)
  await signOn({ attributes: { lang: 'de', groups: ['one'] } }, { rules })
  await signOn({ attributes: { lang: 'de', groups: [] } }, { rules })
  assert.equal(runs(), 3)
  const broken = new Error('no disk')
  fail(broken)
  await assert.rejects(signOn({ attributes }, { rules }), broken)
  assert.equal(runs(), 4)
})

test('one membership for another is a change, on record (D27.2)', async t => {
  const { database, addGroup, signOn, groupsOf, records } = await accountMatcher(t)
  for (const [id, name] of [
    ['50', 'a-one'],
    ['51', 'a-two'],
    ['52', 'a-old'],
    ['53', 'a-older'],
  ] as const)
    await addGroup(id, name)
  const groups = (...values: string[]) => signOn({ attributes: { groups: values } }, { rules })
  const { id } = await groups('one')
  records.splice(0)
  await groups('two')
  assert.deepEqual(await groupsOf(id), [['a-two', 'a']])
  const detail = { mechanism: 'a', added: 'a-two', removed: 'a-one', before: 'a-one', after: 'a-two' }
  assert.deepEqual(records, [{ event: 'groups-changed', userId: id, userName: 'anna@a.example', detail }])
  await database.transaction(async tx => {
    await giveMemberships(tx, 'gone', id, ['52'])
    await giveMemberships(tx, 'lost', id, ['53'])
  })
  await groups('two', 'created', 'other')
  assert.deepEqual(await groupsOf(id), [
    ['a-created', 'a'],
    ['a-other', 'a'],
    ['a-two', 'a'],
  ])
  await database.transaction(tx => giveMemberships(tx, 'gone', id, ['52']))
  await groups('created', 'other')
  assert.deepEqual(await groupsOf(id), [
    ['a-created', 'a'],
    ['a-other', 'a'],
  ])
})

test('properties of a user have 65,536 bytes, to the byte (D27.4)', async t => {
  const { plan } = await accountMatcher(t)
  const names = Array.from({ length: 17 }, (_, at) => `p${at}`)
  const map = new Map(names.map(name => [`property.${name}`, name] as const))
  const stored = (last: number) =>
    Object.fromEntries(names.map((name, at) => [name, 'x'.repeat(at < 15 ? 4096 : at === 15 ? 3000 : last)]))
  const left = 65_536 - Buffer.byteLength(JSON.stringify(Object.entries(stored(0))))
  const planned = async (last: number) => {
    const { profile } = await plan({ attributes: stored(last) }, { rules: { ...rules, map } })
    return Object.keys(profile.user.customProperties ?? {}).length
  }
  assert.deepEqual([await planned(left), await planned(left + 1)], [17, 16])
})
