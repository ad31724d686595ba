import { setImmediate } from 'node:timers/promises'
import type { Caller } from '../accounts/caller.ts'
import { type Graph, graphOf, type Statement, statementsOf, type Term } from '../graph/graph.ts'
import type { Queries } from '../stores/database.ts'
import type { Entry } from './entry.ts'
import { lookUp, metadataIn } from './lookup.ts'

export const MOST_LEVELS = 10
const MOST_ENTRIES = 1000
/** Links may lead nowhere, or to what the caller may not read. */
const MOST_LOOK_UPS = 5000
const MOST_STATEMENTS = 100_000
const BATCH = 20

export interface Walk {
  /** The links that are followed. */
  readonly predicates: ReadonlySet<string>
  /** How many links lead from the first entry to the last, at most {@link MOST_LEVELS}. */
  readonly depth: number
  /** Stays in this context. */
  readonly context: string | undefined
}

/**
 * The metadata of an entry together with those of the entries it links to, as far as the caller may read them (wire facts
 * 3.5). A walk that would take too long ends early, the nearest entries are in it.
 */
export async function linkedMetadata(queries: Queries, caller: Caller, start: Entry, walk: Walk): Promise<Graph> {
  const statements: Statement[] = []
  const seen = new Set([keyOf(start)])
  const asked = new Set<string>()
  let level = [start]
  for (let depth = 0; level.length > 0 && statements.length < MOST_STATEMENTS; depth++) {
    const links = new Set<string>()
    for (const [index, entry] of level.entries()) {
      if (index % BATCH === BATCH - 1) await setImmediate()
      const graph = (await metadataIn(queries, caller, entry, 'all')) ?? {}
      const label = `${seen.size - level.length + index}`
      for (const statement of statementsOf(graph)) {
        statements.push(apart(statement, label))
        const { predicate, object } = statement
        if (object.type === 'uri' && walk.predicates.has(predicate)) links.add(object.value)
      }
      if (statements.length >= MOST_STATEMENTS) break
    }
    level = []
    if (depth >= walk.depth) break
    for (const uri of links) {
      if (seen.size >= MOST_ENTRIES || asked.size >= MOST_LOOK_UPS) break
      if (asked.has(uri)) continue
      asked.add(uri)
      if (asked.size % BATCH === 0) await setImmediate()
      const { context } = walk
      const found = await lookUp(queries, caller, { uri, scope: 'all', ...(context === undefined ? {} : { context }) })
      if (!found || seen.has(keyOf(found.entry))) continue
      seen.add(keyOf(found.entry))
      level.push(found.entry)
    }
  }
  return graphOf(statements)
}

const keyOf = ({ context, id }: Entry): string => `${context}/${id}`

/** Blank nodes of different entries have nothing to do with each other, even if they are called alike. */
function apart({ subject, predicate, object }: Statement, label: string): Statement {
  const renamed = (value: string): string => (value.startsWith('_:') ? `_:e${label}-${value.slice(2)}` : value)
  const term: Term = object.type === 'bnode' ? { ...object, value: renamed(object.value) } : object
  return { subject: renamed(subject), predicate, object: term }
}
