import type { Milliseconds } from '../../base/units.ts'
import type { EntryAddress } from '../../model/addresses.ts'
import type { Scratch } from '../../stores/scratch.ts'
import { sql } from '../../stores/sql.ts'
import type { Report } from './report.ts'
import type { RowSink } from './row-sink.ts'

interface Membership {
  readonly member: string
  readonly list: string
}

const PAGE = 500

/**
 * Memberships of lists, gathered until all lists of a context are known: an entry stays in its oldest list, by the creation
 * of the list and then by its id (as the third step of the schema did it).
 */
export class ListMemberships {
  readonly #scratch: Scratch
  readonly #report: Report
  readonly #isPresent: (address: EntryAddress) => boolean

  constructor(scratch: Scratch, report: Report, isPresent: (address: EntryAddress) => boolean) {
    this.#scratch = scratch
    this.#report = report
    this.#isPresent = isPresent
    scratch.run(sql`CREATE TABLE memberships (context TEXT NOT NULL, member TEXT NOT NULL, created INTEGER NOT NULL,
      list TEXT NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (context, member, created, list)) WITHOUT ROWID`)
    scratch.run(sql`CREATE TABLE chosen (context TEXT NOT NULL, list TEXT NOT NULL, position INTEGER NOT NULL,
      member TEXT NOT NULL, PRIMARY KEY (context, list, position)) WITHOUT ROWID`)
  }

  add({ context, id: list }: EntryAddress, created: Milliseconds, members: readonly EntryAddress[]): void {
    for (const [position, member] of members.entries()) {
      if (member.context !== context || member.id === list) {
        this.#report.drop('missing-member', `${context}/entry/${list}: ${member.context}/entry/${member.id} of another context, or itself`)
        continue
      }
      this.#scratch.run(sql`INSERT INTO memberships (context, member, created, list, position)
        VALUES (${context}, ${member.id}, ${created}, ${list}, ${position})`)
    }
  }

  /** Judges the memberships of a context once all its entries are known, and writes their rows. */
  async settle(context: string, rows: RowSink): Promise<void> {
    /** The lists that lists are in. */
    const holding = new Map<string, string>()
    const lists = new Set(
      this.#scratch
        .all<{ list: string }>(sql`SELECT DISTINCT list FROM memberships WHERE context = ${context}`)
        .map(({ list }) => list),
    )
    let previous: string | undefined
    for (const { member, list, position } of this.#all(context)) {
      const example = `${context}/entry/${list}: ${member}`
      if (!this.#isPresent({ context, id: member })) this.#report.drop('missing-member', example)
      else if (previous === member) this.#report.drop('second-list', example)
      else {
        if (lists.has(member) && isInside(list, member, holding)) {
          this.#report.drop('list-circle', example)
          continue
        }
        previous = member
        if (lists.has(member)) holding.set(member, list)
        this.#report.imported(1)
        this.#scratch.run(sql`INSERT INTO chosen (context, list, position, member)
          VALUES (${context}, ${list}, ${position}, ${member})`)
      }
    }
    await this.#write(context, rows)
  }

  *#all(context: string): Generator<Membership & { readonly position: number }> {
    for (let last: { member: string; created: number; list: string } = { member: '', created: 0, list: '' }; ; ) {
      const page = this.#scratch.all<Membership & { position: number; created: number }>(sql`
        SELECT member, created, list, position FROM memberships
        WHERE context = ${context} AND (member, created, list) > (${last.member}, ${last.created}, ${last.list})
        ORDER BY member, created, list LIMIT ${PAGE}`)
      yield* page
      const next = page.at(-1)
      if (!next) return
      last = next
    }
  }

  async #write(context: string, rows: RowSink): Promise<void> {
    let position = 0
    for (let last = { list: '', position: -1 }; ; ) {
      const page = this.#scratch.all<Membership & { position: number }>(sql`SELECT list, position, member FROM chosen
        WHERE context = ${context} AND (list, position) > (${last.list}, ${last.position}) ORDER BY list, position LIMIT ${PAGE}`)
      for (const { list, member, position: old } of page) {
        position = list === last.list ? position + 1 : 1
        await rows.add('list_members', { context, member, list, position })
        last = { list, position: old }
      }
      if (page.length < PAGE) return
    }
  }
}

/** Whether `list` is inside of `outer`, by whatever lists in between, or is that list. */
function isInside(list: string, outer: string, holding: ReadonlyMap<string, string>): boolean {
  for (let at: string | undefined = list; at !== undefined; at = holding.get(at)) if (at === outer) return true
  return false
}
