import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { guest, isGuest } from '../accounts/caller.ts'
import { InvalidInput, NotFound, WrongMethod } from '../base/errors.ts'
import { Bodies } from './body.ts'
import { noteAccess, recogniseCaller } from './caller.ts'
import { ClientAddresses } from './client-address.ts'
import { AuthCookie } from './cookies.ts'
import { refuseCrossSite } from './cross-site.ts'
import { sendProblem } from './problem.ts'
import { Parameters } from './query.ts'
import type { Route } from './route.ts'
import { routes } from './routes/routes.ts'
import type { HttpOptions, Rooms, Services } from './services.ts'
import { drainUnreadBody } from './unread-body.ts'

const MOST_HEADER_BYTES = 16_384
const HEADERS_TIMEOUT = 60_000
/** Longer than the idle time of the usual reverse proxies, so that they and not we close idle connections. */
const KEEP_ALIVE = 75_000
const MOST_PATH_PART = 1024
const MOST_USER_AGENT = 512

const noParameters = Parameters.parse('', 'invalid-query')

/** The application: the steps below in their order, then the route. Does not listen yet. */
export function createApp(rooms: Rooms, options: HttpOptions): FastifyInstance {
  const on: Services = {
    ...rooms,
    options,
    get base() {
      return options.base()
    },
    bodies: new Bodies(rooms.system, options.body),
    cookie: new AuthCookie(options.cookie),
  }
  const app = createFastify(on)
  const addresses = new ClientAddresses(options.trustedProxies)

  app.decorateRequest('caller', undefined as never)
  app.decorateRequest('client', undefined as never)
  app.decorateRequest('parameters', undefined as never)

  app.addHook('onRequest', async (request, reply) => {
    // Set first: the answer to a request that fails half-way through these steps needs them too.
    request.caller = guest
    request.parameters = noParameters
    request.client = clientOf(request, addresses)
    setCommonHeaders(on, request, reply)
    drainUnreadBody(request.raw, reply.raw)
    request.parameters = parametersOf(request)
    const { ignoresCaller } = request.routeOptions.config
    if (ignoresCaller !== true) request.caller = await recogniseCaller(on, request, reply)
    if (ignoresCaller === true || request.caller.session)
      refuseCrossSite(request.method, request.headers, new Set([on.base.origin]))
  })
  let closing = false
  app.addHook('preClose', async () => {
    closing = true
  })
  app.addHook('onSend', async (request, reply) => {
    // A connection kept alive after its last request would keep the service from ending.
    if (closing) reply.header('connection', 'close')
    setCacheHeaders(request, reply)
    await noteAccess(on, request, reply)
  })
  app.addHook('onResponse', async (request, reply) => logRequest(on, request, reply))

  // Handlers read bodies themselves, after they have judged the caller: nothing is parsed beforehand.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.setErrorHandler(sendProblem)
  app.setNotFoundHandler(async () => {
    throw new NotFound('not-found', 'There is nothing at this address.')
  })
  register(app, routes(on))
  return app
}

function createFastify(on: Services): FastifyInstance {
  const prefix = Buffer.from(on.system.randomBytes(4)).toString('hex')
  let count = 0
  const app = Fastify({
    logger: false,
    genReqId: () => `${prefix}-${++count}`,
    rewriteUrl: request => on.base.route(request.url ?? '/'),
    // Parsed in a step of our own, strictly; what Fastify holds is the text.
    routerOptions: { querystringParser: text => ({ text }), maxParamLength: MOST_PATH_PART, caseSensitive: true },
    exposeHeadRoutes: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    // Bodies have time limits of their own (`body.ts`); a total limit would cut long uploads off.
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE,
    http: { maxHeaderSize: MOST_HEADER_BYTES, headersTimeout: HEADERS_TIMEOUT },
    frameworkErrors: (error, request, reply) => {
      request.parameters = noParameters
      request.caller = guest
      setCommonHeaders(on, request, reply)
      void sendProblem(error, request, reply)
    },
  })
  // A client that waits for permission gets it when somebody reads the body, or the refusal instead (D7.4).
  app.server.on('checkContinue', (request, response) => app.server.emit('request', request, response))
  return app
}

/** Each route; HEAD beside every GET; and for all other methods of a known address a 405 that lists the possible ones. */
function register(app: FastifyInstance, all: readonly Route[]): void {
  for (const url of new Set(all.map(route => route.url))) {
    const some = all.filter(route => route.url === url)
    const allowed = new Set<string>(some.map(route => route.method))
    if (allowed.has('GET')) allowed.add('HEAD')
    for (const { method, handle, ...marks } of some) {
      app.route({ method: method === 'GET' ? ['GET', 'HEAD'] : method, url, handler: handle, config: marks })
    }
    app.route({
      method: app.supportedMethods.filter(method => !allowed.has(method)),
      url,
      config: { ignoresCaller: true, visited: some.some(route => route.visited === true) },
      onRequest: async request => {
        throw new WrongMethod(request.method, [...allowed])
      },
      handler: async () => undefined,
    })
  }
}

function clientOf(request: FastifyRequest, addresses: ClientAddresses): { address: string; userAgent: string } {
  const { forwarded, 'x-forwarded-for': xForwardedFor, 'user-agent': userAgent = '' } = request.headers
  const header = Array.isArray(xForwardedFor) ? xForwardedFor.join(',') : xForwardedFor
  return {
    address: addresses.of(request.raw.socket.remoteAddress ?? '', { forwarded, xForwardedFor: header }),
    userAgent: userAgent.slice(0, MOST_USER_AGENT),
  }
}

function parametersOf(request: FastifyRequest): Parameters {
  if (request.url.includes('%00')) throw new InvalidInput('bad-request', 'The address holds a NUL character.')
  return Parameters.parse((request.query as { readonly text?: string }).text ?? '', 'invalid-query')
}

/** D1.6. A page replaces the policy by its own. */
function setCommonHeaders({ base }: Services, request: FastifyRequest, reply: FastifyReply): void {
  reply.headers({
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'x-request-id': request.id,
    ...(base.isHttps ? { 'strict-transport-security': 'max-age=31536000' } : {}),
  })
}

function setCacheHeaders(request: FastifyRequest, reply: FastifyReply): void {
  if (request.url.startsWith('/auth/')) reply.header('cache-control', 'no-store')
  else if (!isGuest(request.caller)) reply.header('cache-control', 'private')
}

/** One line a request; the query is left out, it may hold what is nobody's business. */
function logRequest({ log }: Services, request: FastifyRequest, reply: FastifyReply): void {
  log.info(
    {
      requestId: request.id,
      method: request.method,
      path: request.url.split('?')[0],
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
      user: request.caller.user.id,
      address: request.client.address,
    },
    'request',
  )
}
