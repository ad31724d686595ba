import type { FastifyReply, FastifyRequest } from 'fastify'
import { Readable } from 'node:stream'
import { requireSignedIn, shareOf } from '../../accounts/caller.ts'
import { escapeHtml } from '../../base/escape-html.ts'
import { InvalidInput, ServiceError, TooLarge, UnsupportedType } from '../../base/errors.ts'
import type { Bytes } from '../../base/units.ts'
import { requireRight } from '../../model/rights.ts'
import { indexedDocument } from '../../search/index-records.ts'
import { mediaTypeOf } from '../body.ts'
import { clientGoneSignal } from '../client-gone-signal.ts'
import { firstFile } from '../multipart.ts'
import { problemOf } from '../problem.ts'
import { syntaxOfBody } from '../rdf.ts'
import type { Route } from '../route.ts'
import type { Services } from '../services.ts'
import { loadEntry } from './entries.ts'

/** What stands beside the content: an upload sent back, RDF checked, what is indexed (wire facts 3.13, 3.14, 3.16). */
export const toolRoutes = (deps: Services): Route[] => [
  { method: 'POST', url: '/echo', handle: postEcho(deps) },
  { method: 'POST', url: '/validator', handle: postValidator(deps) },
  { method: 'GET', url: '/:context/entry/:entry/index', handle: getIndex(deps) },
]

const MAX_ECHOED: Bytes = 10 * 1_048_576

/** For pages that upload into a frame of theirs: they read the outcome from a text area, refusals too (wire facts 3.13). */
const postEcho = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  reply.type('text/html; charset=utf-8')
  try {
    const chunks = await readEcho(deps, request, reply)
    return await reply.send(Readable.from(echoed(chunks)))
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const { status } = problemOf(error, request.id)
    return await reply.status(status).send(`<textarea>status:${status}\n</textarea>`)
  }
}

async function readEcho(deps: Services, request: FastifyRequest, reply: FastifyReply): Promise<readonly Uint8Array[]> {
  requireSignedIn(request.caller, 'have a file sent back')
  const type = mediaTypeOf(request.raw)
  if (type !== 'multipart/form-data') {
    throw new UnsupportedType('unsupported-type', `The body must be multipart/form-data, not ${type ?? 'untyped'}.`)
  }
  const { bytes } = await firstFile(request.raw, deps.bodies.stream(request.raw, reply.raw))
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of bytes) {
    size += chunk.length
    if (size > MAX_ECHOED) throw new TooLarge('body-too-large', `At most ${MAX_ECHOED} bytes are sent back.`)
    chunks.push(chunk)
  }
  return chunks
}

/** Piece by piece, so that others get their turn. What is not UTF-8 is replaced. */
function* echoed(chunks: readonly Uint8Array[]): Generator<string> {
  const decoder = new TextDecoder()
  yield '<textarea>status:200\n'
  for (const chunk of chunks) yield escapeHtml(decoder.decode(chunk, { stream: true }))
  yield `${escapeHtml(decoder.decode())}</textarea>`
}

/** Whether this service would take a graph; what is wrong with it is the answer, not a refusal. */
const postValidator = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  requireSignedIn(request.caller, 'have RDF checked')
  const syntax = syntaxOfBody(request)
  const text = await deps.bodies.text(request.raw, reply.raw)
  if (text.trim() === '') return { errors: ['The body is empty.'] }
  try {
    const reading = { caller: shareOf(request.caller), clientGone: clientGoneSignal(reply) }
    await deps.graphs.read(syntax, text, deps.base.at('validator'), reading)
    return { errors: [] }
  } catch (error) {
    if (error instanceof InvalidInput) return { errors: [error.message] }
    throw error
  }
}

const getIndex = (deps: Services) => async (request: FastifyRequest) => {
  const placed = await loadEntry(deps, request)
  requireRight(request.caller, 'administer', placed, 'see what is indexed of this entry')
  return await indexedDocument(deps.database, placed.entry, iri => deps.base.toAbsolute(iri))
}
