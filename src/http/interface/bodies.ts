import type { FastifyReply, FastifyRequest } from 'fastify'
import { InvalidInput } from '../../base/errors.ts'
import type { Bytes } from '../../base/units.ts'
import { type Bodies, MAX_FORM_BYTES, mediaTypeOf } from '../protocol/body.ts'
import { anything, type JsonSchema, type Schema } from './schema.ts'

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
