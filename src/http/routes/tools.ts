import type { HttpServices } from '../http-services.ts'
import type { GraphReader } from '../../graph/graph-reader.ts'
import { setImmediate } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Readable } from 'node:stream'
import { requireSignedIn } from '../../accounts/caller-guards.ts'
import { rateLimitKey } from '../../accounts/caller.ts'
import { InvalidInput, NotSupported, ServiceError, TooLarge, UnsupportedType } from '../../base/errors.ts'
import { escapeHtml, isBlankUtf8 } from '../../base/text.ts'
import type { Bytes } from '../../base/units.ts'
import { indexedDocument } from '../../search/index-records.ts'
import { mediaTypeOf } from '../protocol/body.ts'
import { clientGoneSignal } from '../protocol/response-end.ts'
import { content, json, route, undescribed } from '../interface/route.ts'
import { streamedBody } from '../interface/bodies.ts'
import { anyOf, list, mapOf, object, openObject, text } from '../interface/schema.ts'
import { Json } from '../interface/shared-schemas.ts'
import { firstFile } from '../protocol/multipart.ts'
import { problemOf } from '../problem.ts'
import { mediaTypes, syntaxOfBody } from '../representations.ts'
import type { Reads } from '../read-services.ts'

interface Services extends HttpServices {
  readonly graphs: GraphReader
}

const MAX_ECHOED: Bytes = 10 * 1_048_576

/** What is indexed of an entry (W3.16). */
export const indexRoutes = [
  route({
    id: 'readIndex',
    method: 'GET',
    url: '/:context/entry/:entry/index',
    chapter: 'Tools',
    summary: 'Read the values of an entry that [searches](concepts.md#search) compare, by field.',
    access: 'users who administer the entry',
    answers: {
      200: json('Values by field: a text, or a list where there are several.', mapOf(anyOf(text(), list(text())))),
    },
    refusals: { 401: [], 403: [], 404: [] },
    heavy: true,
    handle: async (deps: Reads<'base' | 'database' | 'entries'>, { caller, params }) => {
      const entry = await deps.entries.get(caller, params, 'administer', 'see what is indexed of this entry')
      const document = await indexedDocument(deps.database, entry, iri => deps.base.toAbsolute(iri))
      // Clients expect a single value without an array.
      const one = Object.entries(document).map(([field, values]) => [field, values.length === 1 ? values[0] : values])
      return Object.fromEntries(one) as unknown
    },
  }),
]

/** Further tools: an upload returned as it came, RDF validation (W3.13, W3.14). */
export const toolRoutes = [
  route({
    id: 'echo',
    method: 'POST',
    url: '/echo',
    tokenScopes: ['read'],
    chapter: 'Tools',
    summary: 'Send the first file of a form back as a page, at most 10 MiB.',
    access: 'signed-in users',
    details:
      'A refusal is a page too, `<textarea>status:413…`, so that a page which uploads into a frame can read the status there.',
    body: streamedBody(['multipart/form-data'], {
      schema: openObject({ file: text({ format: 'binary' }) }),
      isRequired: true,
    }),
    answers: {
      200: content('`<textarea>status:200`, a line end, the text of the file, `</textarea>`.', ['text/html'], text()),
    },
    refusals: { 400: ['invalid-form', 'missing-file'], 401: [], 403: ['cross-site-request'] },
    refusedAs: 'text/html',
    handle: async (deps: Services, { request, reply }) => {
      reply.type('text/html; charset=utf-8')
      try {
        const chunks = await readEcho(deps, request, reply)
        return await reply.send(Readable.from(escapedEcho(chunks), { objectMode: false }))
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        const { status } = problemOf(error, request.id)
        return await reply.status(status).send(`<textarea>status:${status}\n</textarea>`)
      }
    },
  }),
  route({
    id: 'validate',
    method: 'POST',
    url: '/validator',
    tokenScopes: ['read'],
    chapter: 'Tools',
    summary: 'Check whether the service would accept a graph.',
    requires: { role: 'user', to: 'have RDF checked' },
    body: streamedBody(mediaTypes, { schema: Json, example: {} }),
    details: 'For a graph that the service would refuse, the response is 400 with the reasons in `errors`.',
    answers: { 200: json('The service would accept the graph; `errors` is empty.', object({ errors: list(text()) })) },
    refusals: { 400: ['invalid-graph', 'bad-request'], 401: [] },
    handle: async ({ base, bodies, graphs }: Services, { request, reply }) => {
      const syntax = syntaxOfBody(request)
      const text = await bodies.bytes(request.raw, reply.raw)
      if (isBlankUtf8(text)) throw invalidGraph('The body is empty.')
      try {
        const reading = { caller: rateLimitKey(request.caller), clientGone: () => clientGoneSignal(reply) }
        await graphs.check(syntax, text, base.at('validator'), reading)
        return { errors: [] }
      } catch (error) {
        if (!(error instanceof InvalidInput) || error.code === 'bad-request') throw error
        throw invalidGraph(error.message, error)
      }
    },
  }),
  ...sparql('/sparql'),
  ...sparql('/:context/sparql'),
]

const invalidGraph = (reason: string, cause?: unknown): InvalidInput =>
  new InvalidInput('invalid-graph', reason, { extra: { errors: [reason] }, cause })

/** Clients of servers with an endpoint for SPARQL get the reason rather than 404 (W3.16). */
function sparql(url: '/sparql' | '/:context/sparql') {
  const refuse = (): never => {
    throw new NotSupported('not-available', 'This service has no endpoint for SPARQL. Metadata are found with /search.')
  }
  return (['GET', 'POST'] as const).map(method => undescribed({ method, url, handle: refuse }))
}

async function readEcho(
  { bodies }: Services,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<readonly Uint8Array[]> {
  requireSignedIn(request.caller, 'have a file sent back')
  const type = mediaTypeOf(request.raw)
  if (type !== 'multipart/form-data') {
    throw new UnsupportedType('unsupported-type', `The body must be multipart/form-data, not ${type ?? 'untyped'}.`)
  }
  const count = bodies.counter(reply.raw)
  const { bytes } = await firstFile(request.raw, bodies.stream(request.raw, reply.raw))
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of bytes) {
    size += chunk.length
    if (size > MAX_ECHOED) throw new TooLarge('body-too-large', `At most ${MAX_ECHOED} bytes are sent back.`)
    count(chunk.length)
    chunks.push(chunk)
  }
  return chunks
}

async function* escapedEcho(chunks: readonly Uint8Array[]): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  yield '<textarea>status:200\n'
  for (const chunk of chunks) {
    yield escapeHtml(decoder.decode(chunk, { stream: true }))
    // Other requests are served between two chunks.
    await setImmediate()
  }
  yield `${escapeHtml(decoder.decode())}</textarea>`
}
