import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Graph, graphText, literal, type Term } from '../../src/graph/graph.ts'
import { dc, dct } from '../../src/graph/vocabulary.ts'
import { newEntry, resourceOf } from '../../src/model/entry.ts'
import {
  isOwnOrder,
  listOrder,
  type Order,
  pageOf,
  type Sortable,
  sorted,
  titleOf,
} from '../../src/model/list-order.ts'

type Member = Sortable & { readonly id: string }

const member = (id: string, part: Partial<Sortable> = {}): Member => ({
  id,
  graphType: 'None',
  title: undefined,
  created: 0,
  modified: 0,
  size: 0,
  ...part,
})

const inOrder = (members: readonly Member[], order: Partial<Order>): string =>
  sorted(members, { ...listOrder, ...order })
    .map(({ id }) => id)
    .join('')

test('without an order the members stay as the list has them (W2.7)', () => {
  const members = [member('c', { title: 'x', size: 3 }), member('a'), member('b', { size: 1 })]
  assert.equal(inOrder(members, {}), 'cab')
  assert.equal(inOrder(members, { descending: true, language: 'sv' }), 'cab')
  assert.deepEqual([isOwnOrder(listOrder), isOwnOrder({ ...listOrder, descending: true })], [true, true])
  assert.equal(isOwnOrder({ ...listOrder, sort: 'title' }), false)
  assert.equal(isOwnOrder({ ...listOrder, first: 'List' }), false)
})

test('members are sorted by each of the numbers, upwards and downwards; equal ones keep their order (W2.7)', () => {
  for (const sort of ['created', 'modified', 'size'] as const) {
    const members = [member('a', { [sort]: 2 }), member('b', { [sort]: 1 }), member('c', { [sort]: 10 })]
    members.push(member('d', { [sort]: 2 }))
    assert.equal(inOrder(members, { sort }), 'badc', sort)
    assert.equal(inOrder(members, { sort, descending: true }), 'cadb', sort)
    assert.equal(members.map(({ id }) => id).join(''), 'abcd', 'the list itself is not changed')
  }
})

test('titles are sorted as people of the language do, without case; members without one stay at the end (W2.7)', () => {
  const titles = { a: 'öl', b: 'Zoo', c: undefined, d: 'ol', e: 'zoo', f: undefined, g: 'apfel' }
  const members = Object.entries(titles).map(([id, title]) => member(id, { title }))
  assert.equal(inOrder(members, { sort: 'title' }), 'gdabecf')
  assert.equal(inOrder(members, { sort: 'title', language: 'en' }), 'gdabecf')
  assert.equal(inOrder(members, { sort: 'title', language: 'sv' }), 'gdbeacf')
  assert.equal(inOrder(members, { sort: 'title', descending: true }), 'beadgcf')
})

test('one graph type may come first, before and after sorting (W2.7)', () => {
  const members = [
    member('a', { size: 3 }),
    member('b', { size: 2, graphType: 'List' }),
    member('c', { size: 1 }),
    member('d', { size: 0, graphType: 'List' }),
  ]
  assert.equal(inOrder(members, { first: 'List' }), 'bdac')
  assert.equal(inOrder(members, { first: 'List', sort: 'size' }), 'dbca')
  assert.equal(inOrder(members, { first: 'User' }), 'abcd')
})

test('a page begins at its offset and has its limit; 0 is no limit', () => {
  const page = (offset: number, limit: number) => pageOf([...'abcde'], { ...listOrder, offset, limit }).join('')
  assert.deepEqual(
    [page(0, 0), page(2, 0), page(0, 2), page(1, 2), page(4, 2), page(5, 2)],
    ['abcde', 'cde', 'ab', 'bc', 'e', ''],
  )
})

test('of several titles the one in the language counts, otherwise the first; the newer vocabulary comes first', () => {
  const entry = newEntry({ context: '3', id: '1', by: undefined, now: 5 })
  const about = resourceOf(entry)
  const inLanguage = (value: string, lang: string): Term => ({ type: 'literal', value, lang })
  const title = (metadata: Graph, language?: string) => titleOf({ ...entry, metadata: graphText(metadata) }, language)
  const some = [literal('plain'), inLanguage('Titel', 'de-AT'), inLanguage('Titre', 'FR'), inLanguage('Title', 'en')]
  const metadata = { [about]: { [dct.title]: some, [dc.title]: [literal('old'), inLanguage('Rubrik', 'sv')] } }
  for (const [language, expected] of [
    [undefined, 'plain'],
    ['de', 'Titel'],
    ['de-CH', 'Titel'],
    ['fr', 'Titre'],
    ['EN-gb', 'Title'],
    ['sv', 'Rubrik'],
    ['it', 'plain'],
    ['d', 'plain'],
  ] as const)
    assert.equal(title(metadata, language), expected, language)
  assert.equal(title({ [about]: { [dc.title]: [literal('old')] } }, 'en'), 'old')
  assert.equal(title({ 'urn:other': { [dct.title]: [literal('x')] } }, 'en'), undefined)
  assert.equal(title({}), undefined)
})
