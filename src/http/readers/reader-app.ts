import Fastify from 'fastify'
import type { Caller } from '../../accounts/caller.ts'
import { withMoved } from '../../workers/moved.ts'
import { plainRefusal } from '../../base/refusals.ts'
import type { RouteDefinition } from '../interface/route.ts'
import { compress, isCompressible } from '../protocol/negotiate.ts'
import { noSchemas } from '../protocol/no-schemas.ts'
import { Parameters } from '../protocol/query.ts'
import { archiveRoutes } from '../routes/archives.ts'
import { contextRoutes } from '../routes/contexts.ts'
import { entryRoutes } from '../routes/entries.ts'
import { listRoutes } from '../routes/lists.ts'
import { lookupRoutes } from '../routes/lookup.ts'
import { metadataRoutes } from '../routes/metadata.ts'
import { resourceRoutes } from '../routes/resources.ts'
import { searchRoutes } from '../routes/search.ts'
import { toolRoutes } from '../routes/tools.ts'
import { trashRoutes } from '../routes/trash.ts'
import type { Rooms, Services } from '../services.ts'
import { heavyReads } from './heavy-reads.ts'
import type { ReadAnswer, ReadTask } from './read-task.ts'
import { injectRequest } from './inject-request.ts'

/** The services that the routes of `heavy-reads.ts` use. */
export type ReaderRooms = Pick<
  Rooms,
  | 'contexts'
  | 'database'
  | 'entries'
  | 'views'
  | 'metadata'
  | 'resources'
  | 'search'
  | 'statistics'
  | 'ledger'
  | 'system'
  | 'trash'
>

/** Only some of the routes, because a thread needs memory for each module that it loads. */
const routes: readonly RouteDefinition<Services>[] = [
  ...searchRoutes,
  ...lookupRoutes,
  ...archiveRoutes,
  ...contextRoutes,
  ...entryRoutes,
  ...metadataRoutes,
  ...resourceRoutes,
  ...listRoutes,
  ...toolRoutes,
  ...trashRoutes,
]

/**
 * Characters from which on a body is moved as bytes: the thread that sends a text would count its bytes, and then make them. Making and
 * moving those of a smaller one takes as long.
 */
const LARGE = 4096

const encoder = new TextEncoder()

/** Set by the thread that received the request, which keeps its own values. */
const notPassedOn = new Set(['content-length', 'connection', 'date', 'transfer-encoding', 'keep-alive'])

/** Answers heavy reads, one after another. */
export function createReaderApp(
  rooms: ReaderRooms,
  options: Pick<Services, 'base' | 'options'>,
): (task: ReadTask) => Promise<ReadAnswer> {
  // Only GET routes run here, and they use none of the missing services.
  const deps = { ...rooms, ...options } as unknown as Services
  const app = Fastify({
    logger: false,
    routerOptions: { querystringParser: text => ({ text }), maxParamLength: 1024, caseSensitive: true },
    exposeHeadRoutes: false,
    schemaController: noSchemas,
  })
  let caller: Caller | undefined
  let failure: unknown
  let body: string | Buffer = ''
  app.decorateRequest('route', undefined as never)
  app.decorateRequest('caller', undefined as never)
  app.decorateRequest('parameters', undefined as never)
  app.decorateRequest('callback', undefined)
  app.addHook('onRequest', (request, _reply, done) => {
    if (!caller) throw new Error('the read request has no caller')
    request.route = request.routeOptions.config
    request.caller = caller
    request.parameters = Parameters.parse((request.query as { readonly text?: string }).text ?? '', 'invalid-query')
    done()
  })
  // Taken here, because the response that Fastify would fill copies it four times.
  app.addHook('onSend', async (request, reply, payload) => {
    if (typeof payload !== 'string') return payload
    body = isCompressible(request) ? ((await compress(request, reply, payload)) as string | Buffer) : payload
    return ''
  })
  app.setErrorHandler(async (error, _request, reply) => {
    failure = error
    return await reply.status(500).send('')
  })
  for (const definition of routes) {
    const { method, url } = definition
    const route = method === 'GET' && Object.hasOwn(heavyReads, url) ? definition.bind(deps) : undefined
    if (route)
      app.route({ method: 'GET', url, handler: route.handle, config: { compressible: route.compressible === true } })
  }
  const ready = app.ready()
  return async task => {
    await ready
    caller = task.caller
    failure = undefined
    body = ''
    const answer = await injectRequest(app, task)
    if (failure !== undefined) {
      const refused = plainRefusal(failure)
      if (!refused) throw failure
      return { refused }
    }
    const headers: Record<string, string> = {}
    for (const name in answer.headers) if (!notPassedOn.has(name)) headers[name] = String(answer.headers[name])
    const status = answer.statusCode
    const sent = body === '' ? answer.body : body
    body = ''
    if (typeof sent === 'string' && sent.length < LARGE) return { status, headers, body: sent }
    // Moved bytes take their memory with them: a small compressed body may share it with others.
    const bytes = typeof sent === 'string' ? encoder.encode(sent) : new Uint8Array(sent)
    return withMoved({ status, headers, body: bytes }, bytes)
  }
}
