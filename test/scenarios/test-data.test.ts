import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { principal, readEntry, STORE, TITLE, uriTerm, valuesOf } from '../support/content.ts'
import { idsOf } from '../support/lists.ts'
import { find } from '../support/search.ts'
import { startInProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const settings = { 'service.repository.store.init-with-test-data': 'on' }
const service = await startInProcess({ after }, { settings })
const admin = await service.admin()

test('users and contexts of the test data are found by their names (W5.1, W3.10.4)', async () => {
  for (const query of ['username:mickey', 'contextname:duck', 'contextname:mouse'])
    assert.equal((await find(admin, query)).results, 1, query)
})

test('users and groups of the test data are there, with their passwords and home contexts (W5.1)', async () => {
  const users = ['donald', 'daisy', 'mickey'] as const
  const passwords = ['donaldDonald12', 'daisyDaisy34', 'mickeyMickey56'] as const
  const titles = ['Donald Duck', 'Daisy Duck', 'Mickey Mouse'] as const
  for (const [index, name] of users.entries()) {
    const visitor = service.visitor()
    assert.equal((await visitor.signIn(name, passwords[index] ?? '')).status, 200)
    const own = await readEntry(visitor, '_principals', String(index + 1))
    assert.equal((own.resource as { name?: string }).name, name)
    assert.equal(
      own.metadata?.[`${visitor.base}_principals/resource/${own.entryId}`]?.[TITLE]?.[0]?.value,
      titles[index],
    )
    assert.deepEqual(valuesOf(visitor, own, `_principals/resource/${own.entryId}`, `${STORE}write`), [
      principal(visitor, own.entryId).value,
    ])
  }
  const homeOf = async (id: string) =>
    ((await readEntry(admin, '_principals', id)).resource as { homecontext?: string }).homecontext
  assert.deepEqual([await homeOf('1'), await homeOf('2'), await homeOf('3')], ['1', undefined, '2'])

  const friends = await readEntry(service.visitor(), '_principals', '4')
  assert.ok(friends.metadata, 'everybody may read the metadata of this group')
  const { name, children } = (await readEntry(admin, '_principals', '4')).resource as {
    readonly name: string
    readonly children: ReadonlyArray<{ readonly entryId: string }>
  }
  assert.equal(name, 'friendsofmickey')
  assert.deepEqual(
    children.map(({ entryId }) => entryId),
    ['1', '3'],
  )
  const nameless = await readEntry(admin, '_principals', '5')
  assert.deepEqual([nameless.resource, nameless.metadata], [{ customProperties: {} }, {}])
})

test('all callers can read the duck context, Mickey and friends the mouse context (W5.2)', async () => {
  const guest = service.visitor()
  assert.equal((await guest.get('duck/metadata/3')).status, 200)
  assert.equal((await guest.get('mouse/metadata/1')).status, 401)
  const daisy = service.visitor()
  await daisy.signIn('daisy', 'daisyDaisy34')
  assert.deepEqual((await readEntry(daisy, '1', '5')).rights, ['administer'])
  assert.equal((await daisy.get('mouse/metadata/1')).status, 403)
  assert.equal((await daisy.get('mouse/metadata/2')).status, 200, 'an access list of its own names her')
  const donald = service.visitor()
  await donald.signIn('donald', 'donaldDonald12')
  assert.equal((await donald.get('mouse/metadata/1')).status, 200)
  assert.equal((await donald.put('mouse/entry/1', (await readEntry(donald, 'mouse', '1')).info)).status, 204)
})

test('the entries of the test data are of the kinds that clients look for (W5.3)', async () => {
  const guest = service.visitor()
  const reference = await readEntry(guest, '1', '1')
  assert.deepEqual(valuesOf(guest, reference, '1/entry/1', `${STORE}resource`), [principal(guest, '3').value])
  assert.deepEqual(valuesOf(guest, reference, '1/entry/1', `${STORE}externalMetadata`), [
    `${guest.base}_principals/metadata/3`,
  ])
  assert.equal('cached-external-metadata' in reference, false, 'a guest may not read the metadata of Mickey')
  assert.deepEqual(await idsOf(guest, '1', '2'), ['3', '4'])
  assert.deepEqual(
    valuesOf(
      guest,
      await readEntry(guest, '1', '5'),
      '1/resource/5',
      'http://www.w3.org/1999/02/22-rdf-syntax-ns#type',
    ),
    [`${STORE}NamedResource`],
  )
  assert.equal((await guest.get('1/resource/6')).status, 204)
  assert.equal((await guest.get('1/resource/3')).status, 303)
})

test('the test data are found by search, and what comes after them has the next numbers (W1.6, W5)', async () => {
  assert.equal((await find(admin, 'title:Donald AND username:donald')).results, 1)
  assert.equal((await find(admin, 'entryType:Link')).results, 4)
  const next = async (path: string) => (await admin.post(path)).json()['entryId']
  assert.deepEqual(
    [
      await next('_principals?graphtype=user'),
      await next('_contexts?graphtype=context'),
      await next('1'),
      await next('2'),
    ],
    ['6', '3', '7', '3'],
  )
  const relations = (await readEntry(admin, '_contexts', '1')).relations
  assert.deepEqual(relations?.[principal(admin, '1').value]?.[`${STORE}homeContext`], [
    uriTerm(`${admin.base}_contexts/entry/1`),
  ])
})

test('only a new store is filled: what is deleted stays so, and a store without test data gets none (W5)', async t => {
  const filled = await temporaryFolder()
  const first = await startInProcess(t, { settings, folder: filled })
  assert.equal((await (await first.admin()).delete('_principals/entry/1')).status, 204)
  await first.close()
  const second = await startInProcess(t, { settings, folder: filled })
  assert.equal((await second.visitor().signIn('donald', 'donaldDonald12')).status, 401)
  assert.equal((await second.visitor().signIn('daisy', 'daisyDaisy34')).status, 200)

  const plain = await temporaryFolder()
  await (await startInProcess(t, { folder: plain })).close()
  const later = await startInProcess(t, { settings, folder: plain })
  assert.equal((await later.visitor().signIn('daisy', 'daisyDaisy34')).status, 401)
})
