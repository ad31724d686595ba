import { create as contentDisposition } from 'content-disposition'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { InvalidInput, NotAcceptable, UnsupportedType } from '../../base/errors.ts'
import type { Incoming } from '../../files/incoming.ts'
import { findSyntax } from '../../graph/syntaxes.ts'
import { clientGoneSignal } from '../client-gone-signal.ts'
import { announcesBody, mediaTypeOf } from '../body.ts'
import { firstFile } from '../multipart.ts'
import { isFlagSet } from '../query.ts'
import { pathPart, type Route } from '../route.ts'
import type { Services } from '../services.ts'

/** Contexts as a whole: given out as one file, taken in, counted (wire facts 3.16). */
export const archiveRoutes = (deps: Services): Route[] => [
  { method: 'GET', url: '/:context/export', handle: getExport(deps) },
  { method: 'POST', url: '/:context/import', handle: postImport(deps) },
  { method: 'GET', url: '/:context/statistics/:type', handle: getStatistics(deps) },
]

const getExport = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  requireRdfJson(request)
  const metadataOnly = isFlagSet(request.parameters, 'metadataOnly')
  const options = { metadataOnly, form: deps.base }
  const { context, open } = await deps.exports.export(request.caller, pathPart(request, 'context'), options)
  reply.type('application/zip').header('content-disposition', contentDisposition(`${context}.zip`))
  return await reply.send(request.method === 'HEAD' ? undefined : open())
}

/** Graphs in an archive have one syntax, so that there is one way to read it. @throws {NotAcceptable} */
function requireRdfJson(request: FastifyRequest): void {
  const format = request.parameters.get('rdfFormat')
  if (format === undefined || findSyntax(format.replaceAll(' ', '+'))?.name === 'json') return
  throw new NotAcceptable('not-acceptable', `Graphs in an archive are RDF/JSON, not ${format.slice(0, 200)}.`)
}

const postImport = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  const isForm = mediaTypeOf(request.raw) === 'multipart/form-data'
  const incoming = isForm ? formArchive(deps, request, reply) : rawArchive(deps, request, reply)
  const imported = await deps.imports.import(request.caller, pathPart(request, 'context'), incoming, deps.base)
  // A form in a frame expects this, and shows nothing of it.
  return isForm ? await reply.type('text/html; charset=utf-8').send('<textarea></textarea>') : imported
}

const zipTypes = ['application/zip', 'application/x-zip-compressed', 'application/octet-stream']

function rawArchive(deps: Services, request: FastifyRequest, reply: FastifyReply): Incoming {
  return {
    declaredSize: undefined,
    signal: clientGoneSignal(reply),
    open: () => {
      if (!announcesBody(request.raw)) throw new InvalidInput('missing-body', 'The request has no body.')
      const type = mediaTypeOf(request.raw)
      if (type !== undefined && zipTypes.includes(type)) return deps.bodies.stream(request.raw, reply.raw)
      throw new UnsupportedType(
        'unsupported-type',
        `The body must be ${zipTypes.join(' or ')}, not ${type ?? 'untyped'}.`,
      )
    },
  }
}

const formArchive = (deps: Services, request: FastifyRequest, reply: FastifyReply): Incoming => ({
  declaredSize: undefined,
  signal: clientGoneSignal(reply),
  open: async function* () {
    yield* (await firstFile(request.raw, deps.bodies.stream(request.raw, reply.raw))).bytes
  },
})

const getStatistics = (deps: Services) => async (request: FastifyRequest) =>
  await deps.statistics.of(request.caller, pathPart(request, 'context'), pathPart(request, 'type'))
