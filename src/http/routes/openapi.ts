import type { FastifyReply, FastifyRequest } from 'fastify'
import { describePaths, openApiDocument } from '../openapi/document.ts'
import type { Route } from '../route.ts'
import type { Services } from '../services.ts'

/** The description of all the routes, for programs that make clients and tests of it. */
export function openApiRoute(deps: Services, others: readonly Route[]): Route {
  const url = '/openapi.json'
  const paths = describePaths([...others.filter(({ onlyRefuses }) => !onlyRefuses), { method: 'GET', url }])
  return {
    method: 'GET',
    url,
    ignoresCaller: true,
    compressible: true,
    handle: async (_request: FastifyRequest, reply: FastifyReply) =>
      await reply.type('application/json').send(openApiDocument(paths, deps.options.version, deps.base.href)),
  }
}
