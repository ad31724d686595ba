import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Acl,
  aclSlots,
  entryTypes,
  groupAcl,
  graphTypes,
  holdsContent,
  holdsFile,
  holdsGraph,
  isList,
  isOfSystemContext,
  isOwnAcl,
  newEntry,
  resourceOf,
  resourceTypes,
  userAcl,
  withModification,
} from '../../src/model/entry.ts'

const place = { context: '3', id: '1', by: undefined, now: 5 }

test('cached metadata that an entry is created with are as old as the entry; without them there is no such time', () => {
  assert.equal(newEntry({ ...place, cachedExternalMetadata: {} }).cached, 5)
  assert.equal(newEntry(place).cached, undefined)
})

test('a new entry is local and without a type, was created now, and has its creator as only contributor (W2.5)', () => {
  const { created, modified, creator, contributors, acl, statements, metadata, content, ...rest } = newEntry({
    ...place,
    by: '7',
  })
  assert.deepEqual([created, modified, creator, contributors, content], [5, 5, '7', ['7'], undefined])
  assert.deepEqual([acl, statements, metadata], [{}, {}, '{}'])
  assert.deepEqual(
    [rest.entryType, rest.graphType, rest.resourceType, rest.externalResource, rest.externalMetadata],
    ['Local', 'None', 'InformationResource', undefined, undefined],
  )
  assert.deepEqual(newEntry(place).contributors, [], 'without a creator')
  assert.equal(newEntry({ ...place, entryType: 'Link', graphType: 'List' }).entryType, 'Link')
})

test('a change makes an entry younger than before, whatever the clock says, and names who made it once (W2.5)', () => {
  const entry = newEntry({ ...place, by: '7' })
  assert.deepEqual([withModification(entry, '8', 9).modified, withModification(entry, '8', 9).created], [9, 5])
  assert.equal(withModification(entry, '8', 5).modified, 6, 'in the same millisecond')
  assert.equal(withModification(entry, '8', 2).modified, 6, 'after the clock was set back')
  const changed = withModification(withModification(withModification(entry, '8', 9), '7', 10), '8', 11)
  assert.deepEqual(changed.contributors, ['7', '8'])
})

test('the resource of an entry is elsewhere if the entry says so', () => {
  assert.equal(resourceOf(newEntry(place)), './3/resource/1')
  assert.equal(resourceOf(newEntry({ ...place, externalResource: 'https://a.example/' })), 'https://a.example/')
})

test('the types of an entry decide what it holds (W1.3, W1.4)', () => {
  const local: Readonly<Record<string, readonly string[]>> = {
    None: ['file'],
    Context: ['system'],
    SystemContext: ['system'],
    User: ['system'],
    Group: ['system'],
    List: ['list'],
    ResultList: ['list'],
    String: ['content'],
    Graph: ['content', 'graph'],
    Pipeline: ['content', 'graph'],
    PipelineResult: [],
  }
  const resourceType = 'InformationResource'
  for (const graphType of graphTypes) {
    for (const entryType of entryTypes) {
      const types = { entryType, graphType, resourceType } as const
      const held = [
        ...(holdsFile(types) ? ['file'] : []),
        ...(holdsContent(types) ? ['content'] : []),
        ...(holdsGraph(types) ? ['graph'] : []),
        ...(isList(types) ? ['list'] : []),
        ...(isOfSystemContext(types) ? ['system'] : []),
      ]
      const expected = (local[graphType] ?? []).filter(what => entryType === 'Local' || what === 'graph')
      assert.deepEqual(held, expected, `${entryType} ${graphType}`)
    }
  }
  const files = resourceTypes.filter(type => holdsFile({ entryType: 'Local', graphType: 'None', resourceType: type }))
  assert.deepEqual(files, ['InformationResource', 'ResolvableInformationResource', 'Unknown'])
})

test('an ACL is one of its own if any slot names someone (W4.2)', () => {
  assert.deepEqual(aclSlots, ['admin', 'rread', 'rwrite', 'mread', 'mwrite'])
  for (const slot of aclSlots) {
    assert.equal(isOwnAcl({ [slot]: ['./_principals/resource/7'] }), true, slot)
    assert.equal(isOwnAcl({ [slot]: [] }), false, slot)
  }
  assert.equal(isOwnAcl({}), false)
})

test('new users may change themselves and are seen by users; new groups are seen by members and users (W3.2.1)', () => {
  const own = ['./_principals/resource/7']
  const users = ['./_principals/resource/_users']
  assert.deepEqual<Acl>(userAcl('7'), { rwrite: own, mwrite: own, mread: users })
  assert.deepEqual<Acl>(groupAcl('7'), { rread: own, mread: users })
})
