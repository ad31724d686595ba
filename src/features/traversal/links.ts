import { isAbsoluteIri } from '../../graph/graph.ts'
import { prefixes } from '../../graph/vocabulary.ts'

/** A predicate that leads from entry to entry. */
export interface Link {
  readonly predicate: string
  /** From the object to the subject: to the entries whose metadata name this one. */
  readonly isInverse: boolean
}

/** `dcterms:hasPart`, an IRI, or either behind `^` for its inverse; `undefined` for anything else. */
export function readLink(text: string): Link | undefined {
  const isInverse = text.startsWith('^')
  const predicate = expand(isInverse ? text.slice(1) : text)
  return predicate === undefined ? undefined : { predicate, isInverse }
}

/** Expands a short form with one of the prefixes that the service writes itself. */
export function expand(name: string): string | undefined {
  const [prefix = '', ...local] = name.split(':')
  const namespace = Object.hasOwn(prefixes, prefix) ? prefixes[prefix] : undefined
  const iri = namespace === undefined ? name : namespace + local.join(':')
  return isAbsoluteIri(iri) ? iri : undefined
}
