import { MAX_DEPTH, type LinkTraversal } from '../content/lookup.ts'
import { isAbsoluteIri } from '../graph/graph.ts'
import { prefixes } from '../graph/vocabulary.ts'
import type { BaseAddress } from './base-address.ts'
import { choice, invalid, textParameter, type ValuesOf, wholeNumber } from './interface/route.ts'

/** Which links from entry to entry an answer follows (W3.5). */
export const linkQuery = {
  recursive: textParameter(
    'With the metadata of the entries that these predicates lead to: IRIs or short forms such as `dcterms:hasPart`, commas between them. At most 1000 entries that the caller may read.',
  ),
  depth: wholeNumber(`How many links to follow, at most ${MAX_DEPTH}.`, {
    otherwise: MAX_DEPTH,
    max: 999_999_999,
    cap: MAX_DEPTH,
  }),
  scope: choice('`context`: only entries of this context.', ['context'], undefined),
}

/** `undefined` where no link is to be followed. @throws {InvalidInput} `invalid-query` */
export function readLinkTraversal(
  { recursive, depth, scope }: ValuesOf<typeof linkQuery>,
  base: BaseAddress,
): LinkTraversal | undefined {
  if (recursive === undefined) return undefined
  const iris = recursive.split(',').map(name => expand(name.trim()))
  const predicates = new Set(iris.filter(iri => iri !== undefined).map(iri => base.toRelative(iri)))
  if (predicates.size === 0) {
    throw invalid('`recursive` must contain predicates: IRIs or dcterms:relation, separated by commas.')
  }
  return { predicates, depth, withinContext: scope === 'context' }
}

/** Expands a short form with one of the prefixes that the service writes itself. */
function expand(name: string): string | undefined {
  const [prefix = '', ...local] = name.split(':')
  const namespace = Object.hasOwn(prefixes, prefix) ? prefixes[prefix] : undefined
  const iri = namespace === undefined ? name : namespace + local.join(':')
  return isAbsoluteIri(iri) ? iri : undefined
}
