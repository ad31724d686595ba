import Fastify from 'fastify'
import { type Caller, guestFrom } from '../../accounts/caller.ts'
import { inRequest, RequestParts, timed } from '../../base/request-parts.ts'
import { noSchemas } from '../protocol/no-schemas.ts'
import { Parameters } from '../protocol/body.ts'
import { routes } from '../routes/routes.ts'
import type { Services } from '../services.ts'
import { heavyReads } from './heavy-reads.ts'
import type { ReadAnswer, ReadTask } from './read-task.ts'

/** Set by the thread that received the request, which keeps its own values. */
const notPassedOn = new Set(['content-length', 'connection', 'date', 'transfer-encoding', 'keep-alive'])

/** Answers heavy reads with the routes of the service, one after another. @param deps those that GET needs */
export function createReaderApp(deps: Services): (task: ReadTask) => Promise<ReadAnswer> {
  const app = Fastify({
    logger: false,
    routerOptions: { querystringParser: text => ({ text }), maxParamLength: 1024, caseSensitive: true },
    exposeHeadRoutes: false,
    schemaController: noSchemas,
  })
  let caller: Caller = nobody
  let failure: unknown
  app.decorateRequest('route', undefined as never)
  app.decorateRequest('caller', undefined as never)
  app.decorateRequest('parameters', undefined as never)
  app.decorateRequest('callback', undefined)
  app.addHook('onRequest', (request, _reply, done) => {
    request.route = request.routeOptions.config
    request.caller = caller
    request.parameters = Parameters.parse((request.query as { readonly text?: string }).text ?? '', 'invalid-query')
    done()
  })
  app.setReplySerializer(payload => timed('serialising', 'JSON', () => JSON.stringify(payload)))
  app.setErrorHandler(async (error, _request, reply) => {
    failure = error
    return await reply.status(500).send('')
  })
  for (const { method, url, bind } of routes) {
    const route = method === 'GET' && Object.hasOwn(heavyReads, url) ? bind(deps) : undefined
    if (route) app.route({ method: 'GET', url, handler: route.handle })
  }
  return async task => {
    const { id, ...rights } = task.caller
    caller = { ...nobody, ...rights, user: { ...nobody.user, id } }
    failure = undefined
    const parts = new RequestParts()
    const {
      statusCode: status,
      headers,
      payload,
      rawPayload,
    } = await inRequest(parts, () => app.inject({ url: task.url, headers: task.headers }))
    if (failure !== undefined) throw failure
    const passed = Object.entries(headers).filter(([name]) => !notPassedOn.has(name))
    return {
      spent: parts.spent,
      status,
      headers: Object.fromEntries(passed.map(([name, value]) => [name, String(value)])),
      body: status === 206 ? new Uint8Array(rawPayload) : payload,
    }
  }
}

const nobody = guestFrom({ address: '', userAgent: '' })
