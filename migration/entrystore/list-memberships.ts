import type { Milliseconds } from '../../src/base/units.ts'
import type { EntryAddress } from '../../src/model/addresses.ts'
import type { Scratch, ScratchMap } from '../../src/stores/scratch.ts'
import { sortable } from './quad-table.ts'
import type { Report } from './report.ts'
import type { RowTarget } from './row-sink.ts'

/**
 * Collects memberships of lists until all lists of a context are known. An entry stays in its oldest list, by
 * the creation of the list and then by its id (as in the third step of the schema).
 */
export class ListMemberships {
  /** `context/member/created/list` → position. */
  readonly #claimed: ScratchMap
  /** `context/list/position` → member. */
  readonly #chosen: ScratchMap
  readonly #report: Report
  readonly #isPresent: (address: EntryAddress) => boolean

  constructor(scratch: Scratch, report: Report, isPresent: (address: EntryAddress) => boolean) {
    this.#claimed = scratch.map()
    this.#chosen = scratch.map()
    this.#report = report
    this.#isPresent = isPresent
  }

  add({ context, id: list }: EntryAddress, created: Milliseconds, members: readonly EntryAddress[]): void {
    for (const [position, { context: other, id: member }] of members.entries()) {
      if (other !== context || member === list) {
        const example = `${context}/entry/${list}: ${other}/entry/${member} of another context, or itself`
        this.#report.drop('missing-member', example)
      } else this.#claimed.set(`${context}/${member}/${sortable(created + EPOCH)}/${list}`, sortable(position))
    }
  }

  /** Decides the memberships of a context when all its entries are known, and writes their rows. */
  async settle(context: string, rows: RowTarget): Promise<void> {
    const lists = new Set<string>()
    for (const { list } of this.#all(context)) lists.add(list)
    /** The lists that contain lists. */
    const holding = new Map<string, string>()
    let previous: string | undefined
    for (const { member, list, position } of this.#all(context)) {
      const example = `${context}/entry/${list}: ${member}`
      if (!this.#isPresent({ context, id: member })) this.#report.drop('missing-member', example)
      else if (previous === member) this.#report.drop('second-list', example)
      else if (lists.has(member) && isInside(list, member, holding)) this.#report.drop('list-circle', example)
      else {
        previous = member
        if (lists.has(member)) holding.set(member, list)
        this.#report.add('imported')
        this.#chosen.set(`${context}/${list}/${position}`, member)
      }
    }
    await this.#write(context, rows)
  }

  *#all(context: string): Generator<{ readonly member: string; readonly list: string; readonly position: string }> {
    for (const [key, position] of this.#claimed.under(`${context}/`)) {
      const [, member = '', , list = ''] = key.split('/')
      yield { member, list, position }
    }
  }

  async #write(context: string, rows: RowTarget): Promise<void> {
    let last: string | undefined
    let position = 0
    for (const [key, member] of this.#chosen.under(`${context}/`)) {
      const [, list = ''] = key.split('/')
      position = list === last ? position + 1 : 1
      last = list
      await rows.add('list_members', { context, member, list, position })
    }
  }
}

/** Makes dates before 1970 positive, so that they sort as texts. */
const EPOCH = 2 ** 50

/** True when `list` is inside `outer`, at any depth, or is that list. */
function isInside(list: string, outer: string, holding: ReadonlyMap<string, string>): boolean {
  for (let at: string | undefined = list; at !== undefined; at = holding.get(at)) if (at === outer) return true
  return false
}
