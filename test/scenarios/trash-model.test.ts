import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { QuotaJson } from '../support/content.ts'
import { newList } from '../support/lists.ts'
import { newContext, newEntry, startInProcess } from '../support/service.ts'
import { putFile } from '../support/uploads.ts'

const QUOTA = 1000

const service = await startInProcess({ after }, { settings: { 'service.data.quota': 'on' } })
const admin = await service.admin()

const step = fc.oneof(
  fc.record({ type: fc.constant('file' as const), bytes: fc.nat({ max: 400 }), which: fc.nat() }),
  fc.record({ type: fc.constant('list' as const) }),
  fc.record({ type: fc.constantFrom<Verb[]>('trash', 'restore', 'purge', 'delete'), which: fc.nat() }),
  fc.record({ type: fc.constant('empty' as const) }),
)
type Verb = 'trash' | 'restore' | 'purge' | 'delete'
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

interface Thing {
  readonly id: string
  readonly isList: boolean
  readonly bytes: number
  list: string | undefined
  /** The entry that was moved to the trash with this one. */
  root: string | undefined
}

/** The entries of one context in plain variables, beside those of the service. */
class Model {
  readonly #context: string
  #things: Thing[] = []

  constructor(context: string) {
    this.#context = context
  }

  async take(given: Step): Promise<void> {
    const context = this.#context
    const present = this.#things.filter(({ root }) => root === undefined)
    const trashed = this.#things.filter(({ id, root }) => root === id)
    if (given.type === 'list') {
      const id = await newList(admin, context)
      this.#things.push({ id, isList: true, bytes: 0, list: undefined, root: undefined })
    } else if (given.type === 'file') {
      const list = pick([undefined, ...present.filter(({ isList }) => isList)], given.which)?.id
      const query = list === undefined ? '' : `?list=${encodeURIComponent(`${admin.base}${context}/resource/${list}`)}`
      const id = await newEntry(admin, context, query)
      const { status } = await putFile(admin, `${context}/resource/${id}`, 'x'.repeat(given.bytes))
      const fits = this.#bytes + given.bytes <= QUOTA
      assert.equal(status, fits ? 201 : 413)
      this.#things.push({ id, isList: false, bytes: fits ? given.bytes : 0, list, root: undefined })
    } else if (given.type === 'empty') {
      assert.deepEqual((await admin.delete(`${context}/trash`)).json(), { deleted: trashed.length })
      this.#things = present
    } else if (given.type === 'trash' || given.type === 'delete') {
      const thing = pick(present, given.which)
      if (!thing) return
      const gone = present.filter(({ id, list }) => id === thing.id || list === thing.id)
      if (given.type === 'trash') {
        assert.equal((await admin.post(`${context}/trash/${thing.id}`)).status, 204)
        for (const one of gone) one.root = thing.id
      } else {
        assert.equal((await admin.delete(`${context}/entry/${thing.id}?recursive`)).status, 204)
        this.#things = this.#things.filter(one => !gone.includes(one))
      }
    } else {
      const thing = pick(trashed, given.which)
      if (!thing) return
      const path = `${context}/trash/${thing.id}`
      if (given.type === 'purge') {
        assert.equal((await admin.delete(path)).status, 204)
        this.#things = this.#things.filter(({ root }) => root !== thing.id)
      } else {
        assert.equal((await admin.post(`${path}/restore`)).status, 200)
        if (!present.some(({ id }) => id === thing.list)) thing.list = undefined
        for (const one of this.#things) if (one.root === thing.id) one.root = undefined
      }
    }
  }

  get #bytes(): number {
    return this.#things.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  async compare(): Promise<void> {
    const context = this.#context
    assert.equal((await admin.get(`${context}/quota`)).json<QuotaJson>().fillLevel, this.#bytes)
    const present = this.#things.filter(({ root }) => root === undefined)
    const sorted = (ids: readonly string[]): string[] => ids.toSorted()
    assert.deepEqual(sorted((await admin.get(context)).json<string[]>()), sorted(present.map(({ id }) => id)))
    const { items } = (await admin.get(`${context}/trash`)).json<{
      items: ReadonlyArray<{ entryId: string; entries: number; bytes: number }>
    }>()
    const expected = this.#things
      .filter(({ id, root }) => root === id)
      .map(({ id }) => {
        const all = this.#things.filter(({ root }) => root === id)
        return [id, all.length, all.reduce((sum, { bytes }) => sum + bytes, 0)].join()
      })
    assert.deepEqual(
      sorted(items.map(({ entryId, entries, bytes }) => [entryId, entries, bytes].join())),
      sorted(expected),
    )
    for (const { id } of present.filter(({ isList }) => isList)) {
      const members = present.filter(({ list }) => list === id).map(({ id }) => id)
      assert.deepEqual(sorted((await admin.get(`${context}/resource/${id}`)).json<string[]>()), sorted(members))
    }
  }
}

const pick = <T>(all: readonly T[], which: number): T | undefined => all[which % Math.max(1, all.length)]

test('whatever is trashed, restored and deleted in whatever order, entries, lists and bytes are exact (D25.2)', async () => {
  const steps = fc.array(step, { minLength: 8, maxLength: 16, size: 'max' })
  const property = fc.asyncProperty(steps, async steps => {
    const context = await newContext(admin)
    assert.equal((await admin.put(`${context}/quota`, { quota: QUOTA })).status, 200)
    const model = new Model(context)
    for (const one of steps) {
      await model.take(one)
      await model.compare()
    }
  })
  await fc.assert(property, { numRuns: 12 })
})
