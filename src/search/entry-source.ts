import type { EntryAddress } from '../model/addresses.ts'
import type { Entry, EntryHead } from '../model/entry.ts'
import type { ResponseBudget } from '../model/response-budget.ts'
import type { Queries } from '../stores/database.ts'

/** Where the search reads entries: to index them, and to check each hit against its access list. `content/` implements it. */
export interface EntrySource {
  readonly findEntry: (queries: Queries, address: EntryAddress) => Promise<Entry | undefined>
  /** Without its graphs if they exceed the budget. */
  readonly findEntryToShow: (
    queries: Queries,
    address: EntryAddress,
    budget: ResponseBudget,
  ) => Promise<Entry | undefined>
  readonly findEntryHead: (queries: Queries, address: EntryAddress) => Promise<EntryHead | undefined>
}
