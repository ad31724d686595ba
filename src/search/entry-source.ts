import type { EntryAddress } from '../model/addresses.ts'
import type { Entry, EntryHead } from '../model/entry.ts'
import type { ResponseBudget } from '../model/response-budget.ts'
import type { Queries } from '../stores/database.ts'

/** Where the search reads the entries that it indexes. `content/` implements it. */
export interface EntrySource {
  readonly findEntry: (queries: Queries, address: EntryAddress) => Promise<Entry | undefined>
}

/** Where the search reads its hits, to check each against its access list. `content/` implements it. */
export interface HitSource {
  /** Without its graphs if they exceed the budget. */
  toShow(address: EntryAddress, budget: ResponseBudget): Promise<Entry | undefined>
  head(address: EntryAddress): Promise<EntryHead | undefined>
}
