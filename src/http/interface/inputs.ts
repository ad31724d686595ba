import type { FastifyReply, FastifyRequest } from 'fastify'
import { InvalidInput } from '../../base/errors.ts'
import type { Bytes } from '../../base/units.ts'
import { type Bodies, MAX_FORM_BYTES, mediaTypeOf } from '../protocol/body.ts'
import { isFlagSet, type Parameters } from '../protocol/query.ts'
import { anything, type JsonSchema, type Schema } from './schema.ts'

/** What a route reads from a request: the parameters of the query and the body. */

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

/** The body of a request or a response. */
export interface Content {
  readonly types: readonly string[]
  readonly schema: Pick<Schema, 'json' | 'definitions'>
  readonly example?: unknown
}

/**
 * The body of a request. It is read when the handler asks for it, never before the caller's right has been
 * checked.
 */
export interface RequestBody<T = unknown> extends Content {
  readonly isRequired: boolean
  readonly read: (bodies: Bodies, request: FastifyRequest, reply: FastifyReply) => Promise<T>
}

/** A JSON body with this schema, small unless `limit` says otherwise. @throws {InvalidInput} `invalid-json` */
export const jsonBody = <T>(
  schema: Schema<T>,
  { example, limit = MAX_FORM_BYTES }: { example?: unknown; limit?: Bytes } = {},
): RequestBody<T> => ({
  types: ['application/json'],
  schema,
  example,
  isRequired: true,
  read: async (bodies, request, reply) => {
    const value = await bodies.json(request.raw, reply.raw, limit)
    const mismatch = schema.mismatch(value, 'body')
    if (mismatch === undefined) return value as T
    throw new InvalidInput('invalid-json', `The body does not have the expected form: ${mismatch}.`)
  },
})

/** A JSON body that a service checks, with more precise errors. The schema only describes it. */
export const checkedBelow = (schema: Schema, { example }: { example?: unknown } = {}): RequestBody => ({
  types: ['application/json'],
  schema,
  example,
  isRequired: true,
  read: async (bodies, request, reply) => await bodies.json(request.raw, reply.raw, MAX_FORM_BYTES),
})

type Fields = Readonly<
  Record<string, { readonly description: string; readonly isRequired?: true; readonly keywords?: JsonSchema }>
>

type FieldValues<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends { readonly isRequired: true } ? string : string | undefined
}

/** The fields of a form. @throws {InvalidInput} `invalid-form` for a missing or repeated field */
export const formBody = <const F extends Fields>(
  fields: F,
  { example, limit }: { example?: Readonly<Record<string, string>>; limit?: Bytes } = {},
): RequestBody<FieldValues<F>> => ({
  types: ['application/x-www-form-urlencoded'],
  schema: { json: formSchema(fields), definitions: {} },
  example,
  isRequired: true,
  read: async (bodies, request, reply) => {
    const form = await bodies.form(request.raw, reply.raw, limit)
    const values = Object.entries(fields).map(([name, { isRequired }]) => {
      const value = form.get(name)
      if (isRequired && value === undefined) {
        throw new InvalidInput('invalid-form', `The field \`${name}\` is missing.`)
      }
      return [name, value] as const
    })
    return Object.fromEntries(values) as FieldValues<F>
  },
})

/** The same fields, as a form or as JSON. The description is that of the form. */
export const formOrJson = <T>(form: RequestBody<T>, json: RequestBody<T>, example: unknown): RequestBody<T> => ({
  ...form,
  types: [...form.types, ...json.types],
  example,
  read: async (bodies, request, reply) =>
    await (form.types.includes(mediaTypeOf(request.raw) ?? '') ? form : json).read(bodies, request, reply),
})

function formSchema(fields: Fields): JsonSchema {
  const required = Object.keys(fields).filter(name => fields[name]?.isRequired)
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(fields).map(([name, { description, keywords }]) => [
        name,
        { type: 'string', description, ...keywords },
      ]),
    ),
    ...(required.length > 0 ? { required } : {}),
  }
}

/** A body that the handler reads as a stream, or in a syntax that it negotiates. */
export const streamedBody = (
  types: readonly string[],
  { example, schema = anything, isRequired = false }: { example?: unknown; schema?: Schema; isRequired?: boolean } = {},
): RequestBody<never> => ({
  types,
  schema,
  example,
  isRequired,
  read: () => Promise.reject(new TypeError('the handler reads this body itself')),
})
