import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { type GraphType, newEntry } from '../../src/model/entry.ts'
import { listOrder, pageOf, type Sortable, sorted, sortKeys, titleOf, wholeList } from '../../src/model/list-order.ts'
import { dc, dct } from '../../src/graph/vocabulary.ts'

interface Member extends Sortable {
  readonly place: number
}

const members = fc
  .array(
    fc.record({
      graphType: fc.constantFrom<GraphType>('None', 'List', 'String'),
      title: fc.option(fc.constantFrom('a', 'B', 'b', 'c', 'Ö', '10'), { nil: undefined }),
      created: fc.integer({ min: 0, max: 4 }),
      modified: fc.integer({ min: 0, max: 4 }),
      size: fc.integer({ min: 0, max: 4 }),
    }),
    { maxLength: 30 },
  )
  .map(list => list.map((member, place): Member => ({ ...member, place })))

const orders = fc.record({
  sort: fc.constantFrom(undefined, ...sortKeys),
  descending: fc.boolean(),
  first: fc.constantFrom<GraphType | undefined>(undefined, 'List', 'String'),
  language: fc.constantFrom(undefined, 'sv', 'de'),
})

const places = (list: readonly Member[]): number[] => list.map(({ place }) => place)

test('sorting loses no member, puts the named type first and keeps the order of equal members (W2.7)', () => {
  const property = fc.property(members, orders, (list, order) => {
    const result = sorted(list, order)
    assert.deepEqual(
      places(result).sort((a, b) => a - b),
      places(list),
    )
    const collator = new Intl.Collator(order.language ?? 'en', { sensitivity: 'accent' })
    const rank = (a: Member, b: Member): number => {
      if (order.first !== undefined && a.graphType !== b.graphType) {
        if (a.graphType === order.first) return -1
        if (b.graphType === order.first) return 1
      }
      if (order.sort === undefined) return 0
      const sign = order.descending ? -1 : 1
      if (order.sort !== 'title') return sign * (a[order.sort] - b[order.sort])
      if (a.title === undefined) return b.title === undefined ? 0 : 1
      if (b.title === undefined) return -1
      return sign * collator.compare(a.title, b.title)
    }
    for (const [index, member] of result.entries()) {
      const next = result[index + 1]
      if (!next) continue
      const judged = rank(member, next)
      assert.ok(judged < 0 || (judged === 0 && member.place < next.place), JSON.stringify([member, next, order]))
    }
  })
  fc.assert(property)
})

test('pages of any size put together are the whole, each with no more than asked for (W2.7)', () => {
  const property = fc.property(members, fc.integer({ min: 1, max: 12 }), (list, limit) => {
    const pages: Member[] = []
    for (let offset = 0; offset < list.length; offset += limit) {
      const page = pageOf(list, { ...wholeList, limit, offset })
      assert.ok(page.length <= limit)
      pages.push(...page)
    }
    assert.deepEqual(pages, list)
    assert.deepEqual(pageOf(list, { ...wholeList, limit }), list.slice(0, limit))
    assert.deepEqual(pageOf(list, wholeList), list)
  })
  fc.assert(property)
})

test('titles sort without regard to capitals, and those without one come last both ways (W2.7)', () => {
  const list = ['b', undefined, 'C', 'A', 'a'].map(
    (title, place): Member => ({ title, place, graphType: 'None', created: 0, modified: 0, size: 0 }),
  )
  assert.deepEqual(places(sorted(list, { ...listOrder, sort: 'title' })), [3, 4, 0, 2, 1])
  assert.deepEqual(places(sorted(list, { ...listOrder, sort: 'title', descending: true })), [2, 0, 3, 4, 1])
})

test('the title is the Dublin Core one, the older one without it, and in the language asked for (W2.7)', () => {
  const about = './3/resource/1'
  const entry = (graph: Record<string, { type: 'literal'; value: string; lang?: string }[]>) =>
    newEntry({ context: '3', id: '1', by: undefined, now: 0, metadata: { [about]: graph } })
  const old = { type: 'literal', value: 'old' } as const
  const english = { type: 'literal', value: 'Book', lang: 'en-GB' } as const
  const swedish = { type: 'literal', value: 'Bok', lang: 'sv' } as const
  const both = entry({ [dc.title]: [old], [dct.title]: [english, swedish] })
  assert.equal(titleOf(both, undefined), 'Book')
  assert.equal(titleOf(both, 'sv'), 'Bok')
  assert.equal(titleOf(both, 'en'), 'Book')
  assert.equal(titleOf(both, 'fi'), 'Book')
  assert.equal(titleOf(entry({ [dc.title]: [old] }), 'sv'), 'old')
  assert.equal(titleOf(entry({}), 'sv'), undefined)
})
