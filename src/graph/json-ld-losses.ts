import { InvalidInput } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import type { ParsedQuad, ParsedTerm } from './graph-builder.ts'
import { rdf, xsd } from './vocabulary.ts'

/** What the library reports when it leaves something out. Its other events lose no statement. */
const losses: Readonly<Record<string, string>> = {
  'blank node predicate': 'is a blank node and cannot be a property',
  'free-floating scalar': 'is a value without a subject',
  'invalid property': 'is not a property: it is neither an absolute IRI nor a term of the context',
  'object with only @language': 'has a language and no value',
  'object with only @list': 'is a list without a subject',
  'object with only @value': 'is a value without a subject',
  'relative @id reference': 'is not an absolute IRI',
  'relative @type reference': 'is not an absolute IRI',
  'relative graph reference': 'is not an absolute IRI',
  'relative object reference': 'is not an absolute IRI',
  'relative predicate reference': 'is not an absolute IRI',
  'relative subject reference': 'is not an absolute IRI',
  'reserved @id value': 'looks like a keyword and is none',
  'reserved @reverse value': 'looks like a keyword and is none',
}

interface LossEvent {
  readonly event: { readonly code: string; readonly details: Readonly<Record<string, unknown>> }
}

/** Handles an event of the library. @throws {InvalidInput} naming what would be left out */
export function refuseLoss({ event: { code, details } }: LossEvent): void {
  const reason = losses[code]
  if (reason === undefined || isIgnoredTerm(details)) return
  throw invalid(`${shown(Object.values(details)[0])} ${reason}.`)
}

/** A context can say, with `null`, that a term means nothing. */
const isIgnoredTerm = ({ property, expandedProperty }: LossEvent['event']['details']): boolean =>
  expandedProperty === null && typeof property === 'string' && !property.startsWith('@')

export function shown(value: unknown): string {
  const text = typeof value === 'string' ? `"${value}"` : JSON.stringify(value)
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

/** Keywords that an expanded document may contain outside of values. */
const keywords = new Set(['@id', '@type', '@list', '@set', '@graph', '@included', '@reverse', '@index', '@language'])
/** Stands for `xsd:double`. No document can contain it, because it is no IRI. */
const WRITTEN_DOUBLE = 'double as written'

/**
 * Refuses what the library leaves out without an event, and changes values that it would write in another way.
 * @param property has these values
 * @throws {InvalidInput}
 */
export function prepareExpanded(given: unknown, property = '@graph'): void {
  if (Array.isArray(given)) for (const element of given) prepareExpanded(element, property)
  if (!isObject(given)) return
  if ('@value' in given) return prepareValue(given)
  for (const [name, value] of Object.entries(given)) {
    if (name.startsWith('@') && !keywords.has(name)) throw invalid(`${shown(name)} has no meaning at this place.`)
    if (name === '@id' && !value) throw invalid(`A value of ${shown(property)} is not an absolute IRI.`)
    prepareExpanded(value, name)
  }
}

function prepareValue(given: Record<string, unknown>): void {
  const { '@value': value, '@type': type } = given
  if (given['@direction'] !== undefined) throw invalid(`${shown(value)} has a base direction, which cannot be stored.`)
  if (type === '@json') return
  if (typeof value === 'string') {
    if (type === xsd.double) given['@type'] = WRITTEN_DOUBLE
  } else if (typeof value === 'number') {
    const isApproximate = type === xsd.double || type === xsd.float || Math.abs(value) >= 1e21
    if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value) && !isApproximate))
      throw invalid(`A number near ${value} cannot be read exactly: send it as a string with a datatype.`)
    // A decimal has no exponent.
    if (type === xsd.decimal) given['@value'] = String(value)
  }
}

/** The statement as the document has it, after {@link prepareExpanded}. */
export function asWritten(quad: ParsedQuad): ParsedQuad {
  if (quad.object.datatype?.value !== WRITTEN_DOUBLE) return quad
  return { ...quad, object: { ...quad.object, datatype: { value: xsd.double } } }
}

/**
 * One plain name after a colon: that is how a name with a prefix looks, and no scheme in use but `urn` has such IRIs for properties, types of
 * things or datatypes.
 */
const prefixed = /^(?!urn:)([A-Za-z][\w+.-]*):[\w.-]+$/i

/** The library takes a name whose prefix is not declared for an absolute IRI. @throws {InvalidInput} naming it */
export function requireDeclared({ predicate, object }: ParsedQuad): void {
  const names: Array<Pick<ParsedTerm, 'value'> | undefined> = [predicate, object.datatype]
  if (predicate.value === rdf.type && object.termType === 'NamedNode') names.push(object)
  for (const name of names) {
    const prefix = name && prefixed.exec(name.value)?.[1]
    if (prefix) throw invalid(`${shown(name.value)} has the prefix "${prefix}", which the context does not declare.`)
  }
}

const invalid = (detail: string): InvalidInput => new InvalidInput('invalid-graph', detail)
