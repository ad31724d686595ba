import { InvalidInput } from '../base/errors.ts'
import { MAX_DEPTH, type LinkTraversal } from '../content/linked-metadata.ts'
import { isAbsoluteIri } from '../graph/iri.ts'
import { prefixes } from '../graph/vocabulary.ts'
import type { BaseAddress } from './base-address.ts'
import type { Parameters } from './query.ts'

/**
 * Which links to follow: `recursive` with predicates, `depth`, `scope=context` (wire facts 3.5); `undefined` where none are
 * asked for.
 * @throws {InvalidInput} `invalid-query`
 */
export function readLinkTraversal(parameters: Parameters, base: BaseAddress): LinkTraversal | undefined {
  const recursive = parameters.get('recursive')
  if (recursive === undefined) return undefined
  const iris = recursive.split(',').map(name => expand(name.trim()))
  const predicates = new Set(iris.filter(iri => iri !== undefined).map(iri => base.toRelative(iri)))
  if (predicates.size === 0) {
    throw new InvalidInput('invalid-query', '`recursive` names no predicate: IRIs or dcterms:relation, commas between.')
  }
  return { predicates, depth: readDepth(parameters), withinContext: isWithinContext(parameters) }
}

/** A short form with one of the prefixes that we write ourselves stands for the IRI. */
function expand(name: string): string | undefined {
  const [prefix = '', ...local] = name.split(':')
  const namespace = Object.hasOwn(prefixes, prefix) ? prefixes[prefix] : undefined
  const iri = namespace === undefined ? name : namespace + local.join(':')
  return isAbsoluteIri(iri) ? iri : undefined
}

function readDepth(parameters: Parameters): number {
  const depth = parameters.get('depth') ?? String(MAX_DEPTH)
  if (/^\d{1,9}$/.test(depth)) return Math.min(Number(depth), MAX_DEPTH)
  throw new InvalidInput('invalid-query', '`depth` is not a whole number.')
}

function isWithinContext(parameters: Parameters): boolean {
  const scope = parameters.get('scope')
  if (scope === undefined || scope === 'context') return scope !== undefined
  throw new InvalidInput('invalid-query', '`scope` can only be `context`.')
}
