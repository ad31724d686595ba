import type { Graph, Term } from './graph.ts'

/** The predicates of the statements that only one of two graphs has. Blank nodes are the same if their labels are. */
export function changedPredicates(before: Graph, after: Graph): readonly string[] {
  const changed = new Set<string>()
  for (const subject of keysOf(before, after)) {
    const [one = {}, other = {}] = [before[subject], after[subject]]
    for (const predicate of keysOf(one, other))
      if (sorted(one[predicate]) !== sorted(other[predicate])) changed.add(predicate)
  }
  return [...changed]
}

const keysOf = (one: object, other: object): ReadonlySet<string> =>
  new Set([...Object.keys(one), ...Object.keys(other)])

const sorted = (terms: readonly Term[] = []): string =>
  terms
    .map(({ type, value, lang, datatype }) => JSON.stringify([type, value, lang, datatype]))
    .sort()
    .join()
