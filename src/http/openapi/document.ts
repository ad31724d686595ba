import { administrationOperations } from './administration.ts'
import { archiveOperations } from './archives.ts'
import { entryOperations } from './entries.ts'
import type { AnswerDescription, Body, Operation, Operations } from './operation.ts'
import { resourceOperations } from './resources.ts'
import { schemas } from './schemas.ts'
import { sessionOperations } from './sessions.ts'
import { toolOperations } from './tools.ts'

/** Everything that can be asked of a service, by method and address as the routes spell them. */
export const operations: Operations = {
  ...sessionOperations,
  ...entryOperations,
  ...resourceOperations,
  ...archiveOperations,
  ...toolOperations,
  ...administrationOperations,
}

export interface Served {
  readonly method: string
  readonly url: string
}

/** The paths of these routes. @throws {TypeError} when one of them is not described: nothing is served that nobody can read of */
export function describePaths(routes: readonly Served[]): Record<string, Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const { method, url } of routes) {
    const operation = operations[`${method} ${url}`]
    if (!operation) throw new TypeError(`no description of ${method} ${url}`)
    ;(paths[templateOf(url)] ??= {})[method.toLowerCase()] = describe(operation, url)
  }
  return paths
}

/** The OpenAPI 3.1 document of a service with these paths at this base address. */
export function openApiDocument(
  paths: ReturnType<typeof describePaths>,
  version: string,
  base: string,
): Record<string, unknown> {
  return {
    openapi: '3.1.0',
    info: { title: 'Stowage', version, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: base.replace(/\/$/, '') }],
    security: [{}, { cookie: [] }, { basic: [] }],
    paths,
    components: {
      schemas,
      parameters: {
        ignoreAuth: queryParameter('ignoreAuth', 'The request is a guest’s, whatever cookie comes along.'),
      },
      responses: { Problem: { description: 'Refused.', content: contentOf(problem) } },
      securitySchemes: {
        cookie: { type: 'apiKey', in: 'cookie', name: 'auth_token' },
        basic: { type: 'http', scheme: 'basic' },
      },
    },
  }
}

const problem: Body = { types: ['application/problem+json'], schema: { $ref: '#/components/schemas/Problem' } }

/** `/:context/entry/:entry` as OpenAPI writes it. */
export const templateOf = (url: string): string => url.replace(/:(\w+)/g, '{$1}')

function describe({ summary, query = {}, body, answers }: Operation, url: string): Record<string, unknown> {
  const pathParameters = [...url.matchAll(/:(\w+)/g)].map(([, name]) => pathParameter(name ?? ''))
  const queryParameters = Object.entries(query).map(([name, description]) => queryParameter(name, description))
  return {
    summary,
    parameters: [...pathParameters, ...queryParameters, { $ref: '#/components/parameters/ignoreAuth' }],
    ...(body ? { requestBody: { content: contentOf(body) } } : {}),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, describeAnswer(answer)])),
      default: { $ref: '#/components/responses/Problem' },
    },
  }
}

const describeAnswer = ({ description, body }: AnswerDescription) => ({
  description,
  ...(body ? { content: contentOf(body) } : {}),
})

const contentOf = ({ types, schema }: Body) => Object.fromEntries(types.map(type => [type, { schema }]))

const pathParameter = (name: string) => ({ name, in: 'path', required: true, schema: { type: 'string' } })

const queryParameter = (name: string, description: string) => ({
  name,
  in: 'query',
  description,
  schema: { type: 'string' },
})
