import { InvalidInput } from '../../base/errors.ts'
import { isFlagSet, type Parameters } from '../protocol/query.ts'
import type { JsonSchema } from './schema.ts'

/** A query parameter: its meaning, its schema for the description, and how it is read. */
export interface Parameter<T> {
  readonly description: string
  readonly schema: JsonSchema
  readonly isRequired: boolean
  /** An example value, which generated tests send. */
  readonly example?: string | number | boolean | undefined
  /** @throws {InvalidInput} `invalid-query` */
  readonly read: (parameters: Parameters, name: string) => T
}

export type Query = Readonly<Record<string, Parameter<unknown>>>

/** The query of a route without parameters. */
export type NoQuery = Readonly<Record<string, never>>

export type ValuesOf<Q extends Query> = { readonly [K in keyof Q]: Q[K] extends Parameter<infer T> ? T : never }

interface Hints {
  readonly example?: string
  /** Further keywords of JSON Schema, for the description only. */
  readonly keywords?: JsonSchema
}

/** Any text. */
export const text = (description: string, { example, keywords = {} }: Hints = {}): Parameter<string | undefined> => ({
  description,
  schema: { type: 'string', ...keywords },
  isRequired: false,
  example,
  read: (parameters, name) => parameters.get(name),
})

export const requiredText = (description: string, { example, keywords = {} }: Hints = {}): Parameter<string> => ({
  description,
  schema: { type: 'string', ...keywords },
  isRequired: true,
  example,
  read: (parameters, name) => {
    const value = parameters.get(name)
    if (value !== undefined && value !== '') return value
    throw invalid(`The parameter \`${name}\` is missing.`)
  },
})

/** A flag. Without a value, or with `true`, it is set; `false`, `off` and `0` mean the same as leaving it out. */
export const flag = (description: string): Parameter<boolean> => ({
  description,
  schema: { enum: ['', 'true', 'false'] },
  isRequired: false,
  read: isFlagSet,
})

/**
 * A whole number, at least `min`. An empty value means the same as leaving it out.
 * @param cap larger numbers are reduced to this one
 * @param max larger numbers are refused
 */
export const wholeNumber = (
  description: string,
  {
    otherwise,
    min = 0,
    max = Number.MAX_SAFE_INTEGER,
    cap = max,
  }: { readonly otherwise: number; readonly min?: number; readonly max?: number; readonly cap?: number },
): Parameter<number> => ({
  description,
  schema: { type: 'integer', minimum: min, maximum: max, default: otherwise },
  isRequired: false,
  read: (parameters, name) => {
    const given = parameters.get(name)
    if (given === undefined || given === '') return otherwise
    const number = /^-?\d{1,16}$/.test(given) ? Number(given) : Number.NaN
    if (number >= min && number <= max) return Math.min(number, cap)
    const range = max === Number.MAX_SAFE_INTEGER ? `from ${min} on` : `from ${min} to ${max}`
    throw invalid(`\`${name}\` must be a whole number ${range}, not "${shown(given)}".`)
  },
})

/** One of these words. An empty value means the same as leaving it out. */
export const choice = <const T extends readonly string[], const D extends T[number] | undefined>(
  description: string,
  values: T,
  otherwise: D,
): Parameter<T[number] | D> => ({
  description,
  schema: { enum: values, ...(otherwise === undefined ? {} : { default: otherwise }) },
  isRequired: false,
  read: (parameters, name) => {
    const given = parameters.get(name)
    if (given === undefined || given === '') return otherwise
    const value = values.find(known => known === given)
    if (value !== undefined) return value
    throw invalid(`\`${name}\` must be one of ${values.join(', ')}, not "${shown(given)}".`)
  },
})

/** A parameter that a function of its own reads. */
export const custom = <T>(
  description: string,
  read: Parameter<T>['read'],
  { example, keywords = {} }: Hints = {},
): Parameter<T> => ({ description, schema: { type: 'string', ...keywords }, isRequired: false, example, read })

/** `limit` and `offset` of lists that are returned in pages: 50 items by default, at most 100. */
export const paging = {
  limit: wholeNumber('How many to return; more than 100 counts as 100.', { otherwise: 50, cap: 100 }),
  offset: wholeNumber('How many to skip.', { otherwise: 0 }),
} as const

export const invalid = (detail: string, cause?: unknown): InvalidInput =>
  new InvalidInput('invalid-query', detail, { cause })

const shown = (given: string): string => (given.length > 40 ? `${given.slice(0, 40)}…` : given)
