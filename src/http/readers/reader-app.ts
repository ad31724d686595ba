import Fastify from 'fastify'
import { type Caller, guestFrom } from '../../accounts/caller.ts'
import { inRequest, RequestTimings, timed } from '../../base/request-timings.ts'
import { noSchemas } from '../protocol/no-schemas.ts'
import { Parameters } from '../protocol/parameters.ts'
import type { ReadHttp } from '../http-services.ts'
import type { Offer } from '../interface/route.ts'
import { parameterConstraint, selectedBy } from '../selecting-parameter.ts'
import type { ReadAnswer, ReadTask } from './read-task.ts'

/** Set by the thread that received the request, which keeps its own values. */
const notPassedOn = new Set(['content-length', 'connection', 'date', 'transfer-encoding', 'keep-alive'])

/**
 * Answers heavy reads with the routes of the service, one after another.
 * @param offers the routes that only read, of the core and of features
 */
export function createReaderApp(
  http: ReadHttp,
  offers: ReadonlyArray<Offer<ReadHttp>>,
): (task: ReadTask) => Promise<ReadAnswer> {
  const app = Fastify({
    logger: false,
    routerOptions: {
      querystringParser: text => ({ text }),
      maxParamLength: 1024,
      caseSensitive: true,
      constraints: parameterConstraint(),
    },
    exposeHeadRoutes: false,
    schemaController: noSchemas,
  })
  let caller: Caller = nobody
  let callback: string | undefined
  let failure: unknown
  app.decorateRequest('route', undefined as never)
  app.decorateRequest('caller', undefined as never)
  app.decorateRequest('parameters', undefined as never)
  app.decorateRequest('callback', undefined)
  app.addHook('onRequest', (request, _reply, done) => {
    request.route = request.routeOptions.config
    request.caller = caller
    request.callback = callback
    request.parameters = Parameters.parse((request.query as { readonly text?: string }).text ?? '', 'invalid-query')
    done()
  })
  app.setReplySerializer(payload => timed('serialising', 'JSON', () => JSON.stringify(payload)))
  app.setErrorHandler(async (error, _request, reply) => {
    failure = error
    return await reply.status(500).send('')
  })
  for (const { bind } of offers) {
    const route = bind(http)
    if (route?.heavy === undefined) continue
    app.route({ method: 'GET', url: route.url, handler: route.handle, constraints: selectedBy(route) })
  }
  return async task => {
    const { id, ...rights } = task.caller
    caller = { ...nobody, ...rights, user: { ...nobody.user, id } }
    callback = task.callback
    failure = undefined
    const timings = new RequestTimings()
    const {
      statusCode: status,
      headers,
      payload,
      rawPayload,
    } = await inRequest(timings, () => app.inject({ url: task.url, headers: task.headers }))
    if (failure !== undefined) throw failure
    const passed = Object.entries(headers).filter(([name]) => !notPassedOn.has(name))
    return {
      spent: timings.spent,
      status,
      headers: Object.fromEntries(passed.map(([name, value]) => [name, String(value)])),
      body: status === 206 ? new Uint8Array(rawPayload) : payload,
    }
  }
}

const nobody = guestFrom({ address: '', userAgent: '' })
