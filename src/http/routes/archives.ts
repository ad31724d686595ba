import type { FastifyReply, FastifyRequest } from 'fastify'
import { InvalidInput, NotAcceptable, UnsupportedType } from '../../base/errors.ts'
import type { Incoming } from '../../files/files.ts'
import { findSyntax } from '../../graph/syntaxes.ts'
import { announcesBody, clientGoneSignal, mediaTypeOf, type Parameters } from '../protocol/body.ts'
import { contentDisposition } from '../download.ts'
import { content, json, custom, flagParameter, invalid, textParameter, route } from '../interface/route.ts'
import { streamedBody } from '../interface/bodies.ts'
import { anyOf, anything, flag, list, object, oneOf, optional, text } from '../interface/schema.ts'
import { count } from '../interface/schemas.ts'
import type { Uses } from '../services.ts'
import { formUpload, senderOf } from '../upload-request.ts'

const chapter = 'Archives and statistics'
const zipTypes = ['application/zip', 'application/x-zip-compressed', 'application/octet-stream']

const Imported = object({ entries: count, files: count, bytes: count, report: optional(anything) })

const usages = optional(list(object({ title: text(), totalCount: count, usedInCount: count })))

const Statistics = object({
  type: oneOf('property', 'keyword', 'ontology'),
  entries: count,
  complete: flag,
  counts: list(object({ name: text(), lang: optional(text()), count })),
  entryCount: count,
  propertyUsage: optional(list(object({ property: text(), statements: count, usedInCount: count }))),
  entryCountWithKeyword: optional(count),
  keywordUsage: usages,
  entryCountWithOntologyTerm: optional(count),
  predicateUsage: usages,
  ontologyTermUsage: usages,
})

/** Whole contexts: export to one file, import from one, statistics (W3.16). */
export const archiveRoutes = [
  route({
    id: 'exportContext',
    method: 'GET',
    url: '/:context/export',
    chapter,
    summary: 'Export all entries of a context as one zip.',
    access: 'the user `_admin`',
    query: {
      metadataOnly: flagParameter('Without files.'),
      rdfFormat: textParameter('Only RDF/JSON is possible: graphs in an archive have one syntax.'),
    },
    answers: { 200: content('The zip.', ['application/zip'], anything) },
    refusals: { 400: ['invalid-type'], 401: [], 403: [], 404: [], 406: ['not-acceptable'] },
    handle: async ({ base, exports }: Uses<'base' | 'exports'>, { request, reply, caller, params, query }) => {
      requireRdfJson(query.rdfFormat)
      const options = { metadataOnly: query.metadataOnly, form: base }
      const { context, open } = await exports.export(caller, params.context, options)
      reply.type('application/zip').header('content-disposition', contentDisposition(`${context}.zip`))
      return await reply.send(request.method === 'HEAD' ? undefined : open())
    },
  }),
  route({
    id: 'importContext',
    method: 'POST',
    url: '/:context/import',
    chapter,
    summary: 'Replace all entries of a context by those of an exported zip, sent as it is or in a form.',
    access: 'the user `_admin`',
    details: 'The zip is an export of this service, or of EntryStore; then the response has a `report`.',
    query: {
      groups: custom(
        'For an export of EntryStore, which names no groups: their ids there and their names here, `4:editors,7:authors`.',
        readGroups,
        { example: '4:editors' },
      ),
    },
    body: streamedBody([...zipTypes, 'multipart/form-data'], { isRequired: true }),
    answers: {
      200: content(
        'What was imported; for a form `<textarea></textarea>`.',
        ['application/json', 'text/html'],
        anyOf(Imported, text()),
      ),
    },
    refusals: {
      400: [
        'invalid-archive',
        'invalid-graph',
        'invalid-type',
        'missing-body',
        'missing-file',
        'invalid-form',
        'virus-found',
      ],
      401: [],
      403: [],
      404: [],
      408: ['request-timeout'],
      409: ['conflict'],
      413: ['quota-exceeded', 'file-too-large', 'too-large-to-scan'],
      503: ['scan-unavailable'],
    },
    handle: async (
      { base, bodies, imports }: Uses<'base' | 'bodies' | 'imports'>,
      { request, reply, caller, params, query },
    ) => {
      const isForm = mediaTypeOf(request.raw) === 'multipart/form-data'
      const incoming = isForm ? formUpload({ bodies }, request, reply) : rawArchive({ bodies }, request, reply)
      const imported = await imports.import(caller, params.context, incoming, {
        form: base,
        groups: query.groups,
      })
      // A form inside a frame needs this media type; it does not display the content.
      return isForm ? await reply.type('text/html; charset=utf-8').send('<textarea></textarea>') : imported
    },
  }),
  route({
    id: 'readStatistics',
    method: 'GET',
    url: '/:context/statistics/:type',
    chapter,
    summary: 'Count what the metadata in a context consist of.',
    access: 'callers who can read the resource of the context',
    path: {
      type: {
        description: '`property`, `keyword` or `ontology`; also `properties` and `keywords`.',
        schema: { enum: ['property', 'properties', 'keyword', 'keywords', 'ontology'] },
        example: 'property',
      },
    },
    answers: { 200: json('The counts.', Statistics) },
    refusals: { 401: [], 403: [], 404: ['not-found'], 503: ['overloaded'] },
    compressible: true,
    handle: async ({ statistics }: Uses<'statistics'>, { caller, params }) =>
      await statistics.of(caller, params.context, params.type),
  }),
]

/** @throws {InvalidInput} `invalid-query` */
function readGroups(parameters: Parameters, name: string): ReadonlyMap<string, string> {
  const pairs = (parameters.get(name) ?? '').split(',').filter(pair => pair !== '')
  return new Map(
    pairs.map(pair => {
      const [, id = '', group = ''] = /^([A-Za-z0-9_-]{1,128}):(.{1,255})$/u.exec(pair) ?? []
      if (id === '') throw invalid(`\`${name}\` must be pairs of id and name such as 4:editors,7:authors.`)
      return [id, group] as const
    }),
  )
}

/** Graphs in an archive have one syntax, so that one reader is enough. @throws {NotAcceptable} */
function requireRdfJson(format: string | undefined): void {
  if (format === undefined || findSyntax(format.replaceAll(' ', '+'))?.name === 'json') return
  throw new NotAcceptable('not-acceptable', `Graphs in an archive are RDF/JSON, not ${format.slice(0, 200)}.`)
}

function rawArchive({ bodies }: Uses<'bodies'>, request: FastifyRequest, reply: FastifyReply): Incoming {
  return {
    declaredSize: undefined,
    signal: clientGoneSignal(reply),
    sender: senderOf(request),
    open: () => {
      if (!announcesBody(request.raw)) throw new InvalidInput('missing-body', 'The request has no body.')
      const type = mediaTypeOf(request.raw)
      if (type !== undefined && zipTypes.includes(type)) return bodies.stream(request.raw, reply.raw)
      throw new UnsupportedType(
        'unsupported-type',
        `The body must be ${zipTypes.join(' or ')}, not ${type ?? 'untyped'}.`,
      )
    },
  }
}
