import type { Caller } from '../../src/accounts/caller.ts'
import { findAttached, findEntryHead } from '../../src/content/entry-records.ts'
import {
  type FindTarget,
  loadRelations,
  readableRelations,
  type RelationsOptions,
} from '../../src/content/relations.ts'
import type { Graph } from '../../src/graph/graph.ts'
import { CONTEXTS } from '../../src/model/addresses.ts'
import type { Entry } from '../../src/model/entry.ts'
import type { Queries } from '../../src/stores/database.ts'

/** The relations of an entry that the caller may read, with nothing cached. */
export async function relationsOf(
  queries: Queries,
  caller: Caller,
  entry: Entry,
  options: RelationsOptions,
): Promise<Graph> {
  const find: FindTarget = async address => {
    const found = await findEntryHead(queries, address)
    const contextEntry = await findEntryHead(queries, { context: CONTEXTS, id: address.context })
    return found && contextEntry && { entry: found, contextEntry }
  }
  const relations = await loadRelations(queries, entry, await findAttached(queries, entry))
  return await readableRelations(find, caller, entry, relations, options)
}
