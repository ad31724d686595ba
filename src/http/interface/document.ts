import { errorCodes, type ErrorCode } from '../../base/error-codes.ts'
import type { ErrorStatus } from '../../base/error-text.ts'
import {
  type Answer,
  type Parameter,
  chapters,
  type Description,
  type Refusals,
  type RouteDefinition,
} from './route.ts'
import type { Content } from './bodies.ts'
import { type JsonSchema, named, openObject, type Schema, text, integer } from './schema.ts'

/** Operations by path and method, and the schemas that they refer to. */
export interface Paths {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly schemas: Readonly<Record<string, JsonSchema>>
}

type Described = RouteDefinition & { readonly description: Description }

export const isDescribed = <R extends Pick<RouteDefinition, 'description'>>(
  route: R,
): route is R & { readonly description: Description } => route.description !== undefined

/** `/:context/entry/:entry` in the form of OpenAPI. */
export const templateOf = (url: string): string => url.replace(/:(\w+)/g, '{$1}')

export const Problem = named(
  'Problem',
  openObject({ type: text(), title: text(), status: integer(400), detail: text(), code: text(), error: text() }),
  { description: 'Why a request was refused (RFC 9457). `code` is stable; docs/errors.md lists all of them.' },
)

/** Describes these routes. @throws {TypeError} for a link to an unknown operation */
export function describePaths(routes: readonly RouteDefinition[], everyRoute = routes): Paths {
  const described = routes.filter(isDescribed)
  const offered = new Set(described.map(({ description }) => description.id))
  const known = new Set(everyRoute.filter(isDescribed).map(({ description }) => description.id))
  const isOffered = (id: string): boolean => {
    if (!known.has(id)) throw new TypeError(`A link leads to the operation "${id}", which no route declares.`)
    return offered.has(id)
  }
  const paths: Record<string, Record<string, Operation>> = {}
  for (const route of described) {
    const path = (paths[templateOf(route.url)] ??= {})
    const method = route.method.toLowerCase()
    const operation = describe(route, isOffered)
    path[method] = route.parameter === undefined ? operation : withVariant(path[method], operation)
  }
  return { paths, schemas: definitionsOf(described) }
}

/** The OpenAPI 3.1 document of a service with these paths. @param cookie the name of the cookie of a session */
export function openApiDocument(
  { paths, schemas }: Paths,
  { version, base, cookie }: { readonly version: string; readonly base: string; readonly cookie: string },
): Record<string, unknown> {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Stowage',
      version,
      description: 'A content store: contexts, entries and files behind sessions, lockout and exact quotas.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: base.replace(/\/$/, '') }],
    tags: chapters.map(name => ({ name })),
    security: [{}, { cookie: [] }, { basic: [] }],
    paths,
    components: {
      schemas,
      parameters: {
        ignoreAuth: {
          name: 'ignoreAuth',
          in: 'query',
          description: 'Ignores the `auth_token` cookie of the request: the caller is the guest.',
          schema: { enum: [''] },
        },
      },
      securitySchemes: {
        cookie: { type: 'apiKey', in: 'cookie', name: cookie },
        basic: { type: 'http', scheme: 'basic' },
        accessToken: { type: 'http', scheme: 'bearer' },
      },
    },
  }
}

function describe(route: Described, isOffered: (id: string) => boolean): Record<string, unknown> {
  const { url, description } = route
  const { id, chapter, summary, details, query = {}, body, answers } = description
  const access = accessOf(description)
  const prose = [access === undefined ? undefined : `For: ${access}.`, details].filter(part => part !== undefined)
  return {
    operationId: id,
    tags: [chapter],
    summary,
    ...(prose.length > 0 ? { description: prose.join('\n\n') } : {}),
    parameters: [
      ...[...url.matchAll(/:(\w+)/g)].map(([, name = '']) => describePathParameter(name, description)),
      ...Object.entries(query).map(([name, parameter]) => describeParameter(name, parameter)),
      ...conditionalHeaders(description),
      { $ref: '#/components/parameters/ignoreAuth' },
    ],
    ...(body ? { requestBody: { required: body.isRequired, content: describeContent(body) } } : {}),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([status, answer]) => [status, describeAnswer(answer, isOffered)]),
      ),
      ...describeRefusals(route),
    },
  }
}

type Operation = ReturnType<typeof describe>
interface Responses {
  readonly [status: string]: { readonly description?: unknown; readonly content?: object; readonly headers?: object }
}

/**
 * Merges two routes of an address into one operation, because OpenAPI allows only one: a parameter chooses which route answers.
 * @throws {TypeError} for a variant of no operation
 */
function withVariant(main: Operation | undefined, variant: Operation): Operation {
  if (main === undefined) throw new TypeError(`The operation "${String(variant['operationId'])}" is a variant of none.`)
  const parts = <T>(name: string): readonly T[] => [main[name], variant[name]] as readonly T[]
  const [own = [], added = []] =
    parts<ReadonlyArray<{ readonly name?: string; readonly required?: boolean }>>('parameters')
  const [answers = {}, others = {}] = parts<Responses>('responses')
  const names = new Set(own.map(({ name }) => name))
  const responses = Object.entries(others).map(([status, { content, headers, ...other }]) => {
    const answer = answers[status]
    if (!answer) return [status, { ...other, ...(headers ? { headers } : {}), ...(content ? { content } : {}) }]
    return [status, { ...answer, ...(content ? { content: { ...answer.content, ...content } } : {}) }]
  })
  return {
    ...main,
    description: parts<string | undefined>('description')
      .filter(part => part !== undefined)
      .join('\n\n'),
    // Parameters that the variant requires are optional in the operation as a whole.
    parameters: [...own, ...added.filter(({ name }) => !names.has(name)).map(one => ({ ...one, required: false }))],
    responses: { ...answers, ...Object.fromEntries(responses) },
  }
}

/** The meaning of the path parameters. */
const pathParameters: Readonly<
  Record<string, { readonly description: string; readonly schema: JsonSchema; example: string }>
> = {
  context: {
    description: 'Id or name of a context.',
    schema: { type: 'string', minLength: 1, maxLength: 1024 },
    example: 'photos',
  },
  entry: {
    description: 'Id of an entry of the context.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]+$' },
    example: 'one',
  },
}

function describePathParameter(name: string, { path = {} }: Description): Record<string, unknown> {
  const { description, schema, example } = { ...pathParameters[name], ...path[name] }
  return { name, in: 'path', required: true, description, schema, example }
}

const describeParameter = (name: string, { description, schema, isRequired, example }: Parameter<unknown>) => ({
  name,
  in: 'query',
  description,
  required: isRequired,
  schema,
  ...(example === undefined ? {} : { example }),
})

const headersOf = {
  read: {
    'If-None-Match': 'A tag, or several: 304 when one of them is that of the present state.',
    'If-Modified-Since': 'A date: 304 when nothing has changed since.',
  },
  write: {
    'If-Match': 'A tag, or several: 412 unless one of them is that of the present state.',
    'If-Unmodified-Since': 'A date: 412 when the state is newer by a second or more.',
  },
} as const

const conditionalHeaders = ({ conditional }: Description): Record<string, unknown>[] =>
  conditional === undefined
    ? []
    : Object.entries(headersOf[conditional]).map(([name, description]) => ({
        name,
        in: 'header',
        description,
        schema: { type: 'string' },
      }))

function describeAnswer(
  { description, content, headers = {}, links = {} }: Answer,
  isOffered: (id: string) => boolean,
) {
  const offered = Object.entries(links).filter(([id]) => isOffered(id))
  return {
    description,
    ...(Object.keys(headers).length > 0 ? { headers: describeHeaders(headers) } : {}),
    ...(content ? { content: describeContent(content) } : {}),
    ...(offered.length > 0
      ? {
          links: Object.fromEntries(
            offered.map(([operationId, parameters]) => [operationId, { operationId, parameters }]),
          ),
        }
      : {}),
  }
}

const describeHeaders = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  )

const describeContent = ({ types, schema, example }: Content) =>
  Object.fromEntries(types.map(type => [type, { schema: schema.json, ...(example === undefined ? {} : { example }) }]))

function describeRefusals(route: Described): Record<string, unknown> {
  const content = Object.fromEntries(
    refusalTypes(route).map(type => [type, { schema: type === 'text/html' ? { type: 'string' } : Problem.json }]),
  )
  const declared = [...refusalsOf(route)].map(([status, codes]) => [
    String(status),
    // OpenAPI has no place for codes, and programs need them.
    { description: describeCodes(codes), content, 'x-codes': codes },
  ])
  return { ...Object.fromEntries(declared), default: { description: 'Refused.', content } }
}

const describeCodes = (codes: readonly ErrorCode[]): string =>
  codes.length === 0 ? 'Refused.' : codes.map(code => `\`${code}\`: ${errorCodes[code].help}`).join(' ')

function definitionsOf(routes: readonly Described[]): Record<string, JsonSchema> {
  const used: Pick<Schema, 'definitions'>[] = [Problem]
  for (const { description } of routes) {
    if (description.body) used.push(description.body.schema)
    for (const { content } of Object.values(description.answers)) if (content) used.push(content.schema)
  }
  return Object.assign({}, ...used.map(({ definitions }) => definitions)) as Record<string, JsonSchema>
}

/** The codes that a status stands for, where a route declares no others. */
const general: Refusals = { 401: ['not-signed-in'], 403: ['not-allowed'], 404: ['not-found'], 503: ['overloaded'] }

/**
 * The error responses of an operation by status: the declared ones, and those that follow from the rest of
 * its declaration.
 */
export function refusalsOf({ description }: Described): ReadonlyMap<ErrorStatus, readonly ErrorCode[]> {
  const { refusals = {}, requires, body, query, conditional } = description
  const found = new Map<ErrorStatus, readonly ErrorCode[]>()
  const add = (status: ErrorStatus, codes: readonly ErrorCode[]): void => {
    found.set(status, [...new Set([...(found.get(status) ?? []), ...codes])])
  }
  if (requires) add(401, ['not-signed-in'])
  if (requires?.role === 'admin') add(403, ['not-allowed'])
  if (query) add(400, ['invalid-query'])
  if (body?.types.includes('application/json')) add(400, ['invalid-json'])
  if (body?.types.includes('application/x-www-form-urlencoded')) add(400, ['invalid-form'])
  if (body) {
    add(413, ['body-too-large'])
    add(415, ['unsupported-type'])
  }
  if (body?.types.includes('text/turtle')) add(413, ['graph-too-large'])
  if (conditional) add(412, ['precondition-failed'])
  for (const [key, codes] of Object.entries(refusals)) {
    const status = Number(key) as ErrorStatus
    add(status, codes.length > 0 ? codes : (general[status] ?? []))
  }
  return new Map([...found].sort(([a], [b]) => a - b))
}

/** The same body has the name that the client accepts (D1.4). */
export const problemTypes: readonly string[] = ['application/problem+json', 'application/json']

/**
 * The media types of error responses: a problem, under the name `application/json` for programs that accept only that; pages for addresses
 * that people visit, and for operations that return only pages.
 */
export function refusalTypes({ htmlErrors, description }: Described): readonly string[] {
  const hasPages = htmlErrors || description.refusedAs !== undefined
  return [...problemTypes, ...(hasPages ? ['text/html'] : [])]
}

/** The permitted callers, as a part of a sentence; `undefined`: all callers. */
const accessOf = ({ access, requires }: Described['description']): string | undefined =>
  access ?? (requires && (requires.role === 'admin' ? 'administrators' : 'signed-in users'))
