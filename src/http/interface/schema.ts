import { jsonTypeOf } from '../../base/json.ts'

/** JSON Schema 2020-12, as written to `openapi.json`. */
export type JsonSchema = Readonly<Record<string, unknown>>

declare const typeOfValue: unique symbol

/**
 * The only description of a JSON value: `json` goes into the interface description, `mismatch` checks a
 * value, and the type parameter is the TypeScript type of the values that pass.
 */
export interface Schema<T = unknown> {
  readonly json: JsonSchema
  /** Named schemas that `json` refers to. */
  readonly definitions: Readonly<Record<string, JsonSchema>>
  /** The error in a value, as the end of a sentence; `undefined` when the value matches. `path` names the value. */
  readonly mismatch: (value: unknown, path: string) => string | undefined
  readonly [typeOfValue]?: T
}

export type TypeOf<S> = S extends Schema<infer T> ? T : never

/** An optional member of an object. */
interface Optional<T> {
  readonly optional: Schema<T>
}

type Member = Schema | Optional<unknown>
type Members = Readonly<Record<string, Member>>
type OptionalNames<M> = { [K in keyof M]: M[K] extends Optional<unknown> ? K : never }[keyof M]

type ObjectOf<M> = {
  readonly [K in Exclude<keyof M, OptionalNames<M>>]: TypeOf<M[K]>
} & {
  readonly [K in OptionalNames<M>]?: M[K] extends Optional<infer T> ? T | undefined : never
}

function schema<T>(
  json: JsonSchema,
  mismatch: Schema['mismatch'],
  parts: readonly Pick<Schema, 'definitions'>[] = [],
): Schema<T> {
  return {
    json,
    mismatch,
    definitions: Object.assign({}, ...parts.map(part => part.definitions)) as Schema['definitions'],
  }
}

const primitive = <T>(
  json: JsonSchema,
  isValid: (value: unknown) => boolean,
  form: string,
  describe = wrongType,
): Schema<T> => schema(json, (value, path) => (isValid(value) ? undefined : describe(path, form, value)))

/** Any JSON value. */
export const anything: Schema = schema({}, () => undefined)

/** A string; `keywords` are further keywords of JSON Schema, for the description only. */
export const text = (keywords: JsonSchema = {}): Schema<string> =>
  primitive({ type: 'string', ...keywords }, value => typeof value === 'string' && value.isWellFormed(), 'a string')

export const flag: Schema<boolean> = primitive(
  { type: 'boolean' },
  value => typeof value === 'boolean',
  'true or false',
)

export const nothing: Schema<null> = primitive({ type: 'null' }, value => value === null, 'null')

export const numeric: Schema<number> = primitive({ type: 'number' }, value => typeof value === 'number', 'a number')

export const integer = (minimum: number): Schema<number> =>
  primitive(
    { type: 'integer', minimum, maximum: Number.MAX_SAFE_INTEGER },
    value => Number.isSafeInteger(value) && (value as number) >= minimum,
    `a whole number from ${minimum} on`,
    wrongValue,
  )

/** One of these strings. */
export const oneOf = <const T extends readonly string[]>(...values: T): Schema<T[number]> =>
  primitive({ enum: values }, value => values.includes(value as string), `one of ${values.join(', ')}`, wrongValue)

export const list = <T>(items: Schema<T>): Schema<readonly T[]> =>
  schema(
    { type: 'array', items: items.json },
    (value, path) => {
      if (!Array.isArray(value)) return wrongType(path, 'an array', value)
      return firstOf(value, (item, index) => items.mismatch(item, `${path}[${index}]`))
    },
    [items],
  )

/** An object with any names whose values have one schema. */
export const mapOf = <T>(values: Schema<T>): Schema<Readonly<Record<string, T>>> =>
  schema(
    { type: 'object', additionalProperties: values.json },
    (value, path) => {
      if (!isPlainObject(value)) return wrongType(path, 'an object', value)
      return firstOf(Object.entries(value), ([name, item]) => values.mismatch(item, `${path}.${name}`))
    },
    [values],
  )

export const optional = <T>(member: Schema<T>): Optional<T> => ({ optional: member })

/** An object with exactly these members, so that a response with an undescribed member is found. */
export const object = <const M extends Members>(members: M): Schema<ObjectOf<M>> => objectOf(members, false)

/** An object with these members and any others. */
export const openObject = <const M extends Members>(members: M): Schema<ObjectOf<M>> => objectOf(members, true)

function objectOf<M extends Members>(members: M, isOpen: boolean): Schema<ObjectOf<M>> {
  const schemas = Object.fromEntries(Object.entries(members).map(([name, member]) => [name, schemaOf(member)]))
  const required = Object.keys(members).filter(name => !('optional' in (members[name] ?? {})))
  const json = {
    type: 'object',
    properties: Object.fromEntries(Object.entries(schemas).map(([name, member]) => [name, member.json])),
    ...(required.length > 0 ? { required } : {}),
    ...(isOpen ? {} : { additionalProperties: false }),
  }
  const mismatch: Schema['mismatch'] = (value, path) => {
    if (!isPlainObject(value)) return wrongType(path, 'an object', value)
    const missing = required.find(name => value[name] === undefined)
    if (missing !== undefined) return `${path}.${missing} is missing`
    const unknown = isOpen ? undefined : Object.keys(value).find(name => !Object.hasOwn(schemas, name))
    if (unknown !== undefined) return `${path}.${unknown} is not known`
    return firstOf(Object.entries(schemas), ([name, member]) =>
      value[name] === undefined ? undefined : member.mismatch(value[name], `${path}.${name}`),
    )
  }
  return schema(json, mismatch, Object.values(schemas))
}

/** A value that matches one of these schemas. */
export const anyOf = <const S extends readonly Schema[]>(...schemas: S): Schema<TypeOf<S[number]>> =>
  schema(
    { anyOf: schemas.map(one => one.json) },
    (value, path) => {
      const found = schemas.map(one => one.mismatch(value, path))
      return found.includes(undefined) ? undefined : found.join(', or ')
    },
    schemas,
  )

/** The same schema under a name in `components/schemas`; other places refer to it. */
export const named = <T>(name: string, form: Schema<T>, keywords: JsonSchema = {}): Schema<T> => ({
  ...form,
  json: { $ref: `#/components/schemas/${name}` },
  definitions: { ...form.definitions, [name]: { ...form.json, ...keywords } },
})

function wrongType(path: string, form: string, value: unknown): string {
  return `${path} must be ${form}, but is ${jsonTypeOf(value)}`
}

/** Shows the string too. Not for members that take any string: these may be passwords. */
function wrongValue(path: string, form: string, value: unknown): string {
  if (typeof value !== 'string') return wrongType(path, form, value)
  return `${path} must be ${form}, but is ${JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)}`
}

const schemaOf = (member: Member): Schema => ('optional' in member ? member.optional : member)

const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function firstOf<T>(items: readonly T[], find: (item: T, index: number) => string | undefined): string | undefined {
  for (const [index, item] of items.entries()) {
    const found = find(item, index)
    if (found !== undefined) return found
  }
  return undefined
}
