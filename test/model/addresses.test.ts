import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addressIn,
  cachedMetadataUri,
  contextIdOf,
  CONTEXTS,
  entryUri,
  isId,
  isReservedSegment,
  isSystemEntry,
  metadataUri,
  principalUri,
  relationsUri,
  resourceUri,
  revisionUri,
} from '../../src/model/addresses.ts'

const address = { context: '3', id: 'a-_9' }

test('each part of an entry has the URI that clients expect, and the URI leads back to the entry (W1.1)', () => {
  const uris = [entryUri, metadataUri, relationsUri, cachedMetadataUri, resourceUri].map(uri => uri(address))
  assert.deepEqual(uris, [
    './3/entry/a-_9',
    './3/metadata/a-_9',
    './3/relations/a-_9',
    './3/cached-external-metadata/a-_9',
    './3/resource/a-_9',
  ])
  for (const uri of uris) assert.deepEqual(addressIn(uri), address, uri)
  assert.equal(revisionUri(address, 2), './3/metadata/a-_9?rev=2')
  assert.equal(principalUri('7'), './_principals/resource/7')
})

test('contexts with ids of several characters are found in URIs too', () => {
  for (const uri of ['./docs-2/entry/a', './docs-2/resource/a', './docs-2/metadata/a', './docs-2/relations/a'])
    assert.deepEqual(addressIn(uri), { context: 'docs-2', id: 'a' }, uri)
})

test('a context is addressed by its id alone, as the resource of its entry (W1.1)', () => {
  assert.equal(resourceUri({ context: CONTEXTS, id: 'docs' }), './docs')
  assert.deepEqual(addressIn('./docs'), { context: CONTEXTS, id: 'docs' })
  for (const uri of ['./docs', './_contexts/entry/docs', './_contexts/resource/docs'])
    assert.equal(contextIdOf(uri), 'docs', uri)
})

test('what is not the URI of an entry or a context is none, however near it is', () => {
  const others = ['', './', '3/entry/1', '../3/entry/1', './3/entry/', './3//1', './3/entry/1/', './3/entry/1?rev=2']
  const more = ['./3/other/1', './3/entry/a b', './a b/entry/1', 'x./3/entry/1', './3/entry/1 ', './3/', './3 ', 'x./3']
  for (const uri of [...others, ...more]) assert.equal(addressIn(uri), undefined, uri)
  const contexts = ['', './', '3', './3/', './3/entry/1', './_contexts/3', './_contexts/metadata/3', 'x./3', './3 ']
  for (const uri of contexts) assert.equal(contextIdOf(uri), undefined, uri)
})

test('an id has 1 to 128 letters, digits, hyphens and underscores (W1.6)', () => {
  for (const id of ['a', 'Z', '0', '-', '_', 'a-B_9', 'x'.repeat(128)]) assert.equal(isId(id), true, id)
  for (const id of ['', 'x'.repeat(129), 'a b', 'a/b', 'ä', 'a\n', '.', '%41', 'a:']) assert.equal(isId(id), false, id)
})

test('the entries of a new store are those of the system contexts whose ids begin with an underscore', () => {
  for (const context of ['_contexts', '_principals']) {
    assert.equal(isSystemEntry({ context, id: '_admin' }), true, context)
    assert.equal(isSystemEntry({ context, id: 'a_' }), false, context)
  }
  assert.equal(isSystemEntry({ context: '3', id: '_admin' }), false)
})

test('first path segments of the service are no ids or names of contexts, in any case of letters', () => {
  const own = 'auth echo lookup proxy search sparql validator message management favicon.ico openapi.json store ui'
  for (const segment of own.split(' ')) {
    assert.equal(isReservedSegment(segment), true, segment)
    assert.equal(isReservedSegment(segment.toUpperCase()), true, segment)
    assert.equal(isReservedSegment(`${segment}s`), false, segment)
  }
})
