import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { guestFrom, isGuest } from '../accounts/caller.ts'
import type { Client } from '../accounts/sessions.ts'
import { InvalidInput, NotFound, WrongMethod } from '../base/errors.ts'
import { beginPart, currentRequest, inRequest, RequestParts, timed } from '../base/request-parts.ts'
import type { Milliseconds } from '../base/units.ts'
import {
  announcesBody,
  Bodies,
  dropUnreadBody,
  holdForLateListener,
  isLateListener,
  onResponseEnd,
  Parameters,
} from './protocol/body.ts'
import { allowedMethods, KnownAddresses } from './allowed-methods.ts'
import { noteAccess, recogniseCaller, requireTokenScope } from './caller.ts'
import { originConstraint, onlyAt } from './content-origin.ts'
import {
  ClientAddresses,
  asScript,
  callbackOf,
  Cors,
  refuseCrossSite,
  AuthCookie,
  RequestCookies,
} from './protocol/sender.ts'
import { compress, isCompressible, prefersHtml, removeCodingFromTags } from './protocol/negotiate.ts'
import { answerMalformed, sendProblem } from './problem.ts'
import { Outages } from './outages.ts'
import { noSchemas } from './protocol/no-schemas.ts'
import { withReaders } from './readers/readers.ts'
import type { Route } from './route.ts'
import { bindRoutes } from './routes/routes.ts'
import type { AppServices, HttpOptions, Services } from './services.ts'
import { beginTrace, endTrace } from './tracing.ts'

const MAX_HEADER_BYTES = 16_384
const HEADERS_TIMEOUT = 60_000
/** Longer than the idle time of the usual reverse proxies, so that they and not we close idle connections. */
const KEEP_ALIVE = 75_000
/** A proxy limits the connections of one address; this is what the process can hold. */
const MAX_CONNECTIONS = 10_000
/** Then the connection ends with its response, and the client opens another one. */
const MAX_REQUESTS_PER_CONNECTION = 10_000
const MAX_PATH_PART = 1024
/** Browsers send some twenty. Node makes an object of each, which takes longer than many requests: a header has room for 2,000. */
const MAX_FIELDS = 200
const MAX_USER_AGENT = 512

/** The application: the steps below in their order, then the route. Does not listen yet. */
export function createApp(services: AppServices, options: HttpOptions): FastifyInstance {
  const deps: Services = {
    ...services,
    options,
    get base() {
      return options.address.base
    },
    get sso() {
      return services.sso
    },
    startedAt: services.system.now(),
    bodies: new Bodies(services.system, options.body),
    cookie: new AuthCookie(options.cookie),
    outages: new Outages(services.log),
  }
  const addresses = new ClientAddresses(options.trustedProxies, options.clientAddressHeader)
  const app = createFastify(deps, addresses)
  const cors = new Cors(options.cors)

  app.decorateRequest('route', undefined as never)
  app.decorateRequest('caller', undefined as never)
  app.decorateRequest('cookies', undefined as never)
  app.decorateRequest('parameters', undefined as never)
  app.decorateRequest('callback', undefined)
  app.decorateRequest('trace', undefined)
  app.decorateRequest('span', undefined)
  app.decorateRequest('refusal', undefined)

  app.addHook('onRequest', (request, reply, done) => beginInOrder(request.raw, reply.raw, done))
  app.addHook('onRequest', (request, _reply, done) => {
    beginTrace(deps, request)
    inRequest(new RequestParts(request.span?.observer, request.trace), () => deps.cache.during(done))
  })
  app.addHook('onRequest', async (request, reply) => {
    const isContent = isForContent(deps, request)
    const cookies = isContent
      ? RequestCookies.none
      : RequestCookies.parse(request.headers.cookie, options.cookie.hostPrefix)
    beginExchange(deps, request, reply, { cookies, addresses })
    if (isContent) return
    reply.headers(cors.headers(request.headers.origin))
    removeCodingFromTags(request.raw)
    requireHost(request)
    if (cors.isPreflight(request.method, request.headers)) {
      return void (await reply.status(204).headers(cors.preflightHeaders()).send())
    }
    request.parameters = parametersOf(request)
    // `ignoreAuth` (I4): from here on the request has no `auth_token`, on any route.
    if (request.parameters.has('ignoreAuth')) request.cookies = request.cookies.withoutAuth()
    request.callback = options.jsonp ? callbackOf(request) : undefined
    const isKnown = request.route.skipAuth !== true && request.callback === undefined
    const caller = isKnown ? await recogniseCaller(deps, request, reply) : request.caller
    request.caller = deps.acquaintances ? await deps.acquaintances.introduce(caller) : caller
    await admit(deps, cors, request)
  })
  app.addHook('onSend', async (request, reply, payload) => {
    // An idle kept-alive connection would delay the end of the service, or be cut off by it.
    if (deps.readiness.isDraining) reply.header('connection', 'close')
    setCacheHeaders(request, reply)
    if (options.cspReportUrl !== undefined) addReports(reply, options.cspReportUrl)
    await noteAccess(deps, request, reply)
    if (isLateListener(request.raw)) await holdForLateListener(request.raw, reply.raw)
    else if (announcesBody(request.raw)) void dropUnreadBody(request.raw, reply.raw)
    const text = asScript(reply, payload, request.callback)
    const sent = isCompressible(request) ? await compress(request, reply, text) : text
    beginPart('client', 'response')
    return sent
  })
  app.setReplySerializer(payload => timed('serialising', 'JSON', () => JSON.stringify(payload)))

  // Handlers read bodies themselves, after they have checked the caller, so Fastify parses no body beforehand.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.setErrorHandler((error, request, reply) => sendProblem(deps, error, request, reply))
  const routes = bindRoutes(deps)
  const known = new KnownAddresses(routes)
  app.setNotFoundHandler(async request => {
    const allowed = known.find(request.url.split('?')[0] ?? '', isForContent(deps, request))
    if (allowed && !app.supportedMethods.includes(request.method)) throw new WrongMethod(request.method, allowed)
    throw new NotFound('not-found', 'There is nothing at this address.')
  })
  register(app, deps, routes)
  return app
}

function createFastify(deps: Services, addresses: ClientAddresses): FastifyInstance {
  const { contentOrigin } = deps
  const prefix = Buffer.from(deps.system.randomBytes(4)).toString('hex')
  let count = 0
  const app = Fastify({
    logger: false,
    genReqId: () => `${prefix}-${++count}`,
    rewriteUrl: ({ url = '/', headers }) =>
      (contentOrigin?.isAt(headers.host) === true ? contentOrigin.base : deps.base).route(url),
    // The query is parsed in a later step, strictly; here Fastify keeps only the text.
    routerOptions: {
      querystringParser: text => ({ text }),
      maxParamLength: MAX_PATH_PART,
      caseSensitive: true,
      ...(contentOrigin ? { constraints: originConstraint(contentOrigin) } : {}),
    },
    exposeHeadRoutes: false,
    schemaController: noSchemas,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    // Bodies have time limits of their own (`body.ts`); a total limit would cut long uploads off.
    requestTimeout: 0,
    connectionTimeout: deps.options.body.idleTimeout,
    keepAliveTimeout: KEEP_ALIVE,
    // A missing `Host` is refused by a step of our own, so that the refusal looks like all others.
    http: { maxHeaderSize: MAX_HEADER_BYTES, headersTimeout: HEADERS_TIMEOUT, requireHostHeader: false },
    clientErrorHandler: (error, socket) => {
      answerInOrder(socket, hasAnswer => answerMalformed(error, socket, { headers: commonHeaders(deps), hasAnswer }))
    },
    frameworkErrors: (error, request, reply) => {
      // The address could not be read, so none of the steps runs.
      beginTrace(deps, request)
      beginExchange(deps, request, reply, { cookies: RequestCookies.none, addresses })
      reply.header('cache-control', 'no-store')
      void sendProblem(deps, error, request, reply)
    },
  })
  app.server.maxHeadersCount = MAX_FIELDS
  // A client that takes nothing of a response loses its connection, a slow handler does not.
  app.server.on('timeout', socket => {
    if (socket.writableLength > 0 || !isAnswering(socket)) socket.destroy()
  })
  app.server.maxConnections = MAX_CONNECTIONS
  app.server.maxRequestsPerSocket = MAX_REQUESTS_PER_CONNECTION
  // A client that sent `Expect: 100-continue` gets the permission when a handler reads the body, or the error response (D7.4).
  app.server.on('checkContinue', (request, response) => app.server.emit('request', request, response))
  // No other expectation is known; a server may pass over those (RFC 9110 10.1.1).
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  return app
}

/**
 * Registers each route, HEAD for every GET, and for the other usual methods of a known address a 405 that lists the
 * possible ones.
 */
function register(app: FastifyInstance, deps: Services, all: readonly Route[]): void {
  for (const url of new Set(all.map(route => route.url))) {
    const some = all.filter(route => route.url === url)
    const allowed = allowedMethods(some)
    for (const route of some) {
      const { method, handle: _handle, pageAt: _pageAt, ...marks } = route
      const handle = withReaders(route, deps)
      // A reply that is returned at once has been sent. The framework would wait for its end.
      const handler: typeof handle = (request, reply) => {
        const result = handle(request, reply)
        return result === reply ? undefined : result
      }
      app.route({ method: method === 'GET' ? ['GET', 'HEAD'] : method, url, handler, config: marks, ...onlyAt(route) })
    }
    const pageAt = some.find(route => route.pageAt !== undefined)?.pageAt
    app.route({
      method: app.supportedMethods.filter(method => !allowed.includes(method)),
      url,
      config: { skipAuth: true, htmlErrors: some.some(route => route.htmlErrors === true) },
      ...onlyAt(some[0]),
      onRequest: async (request, reply) => {
        if (pageAt !== undefined && request.method === 'GET' && prefersHtml(request))
          return await reply.redirect(deps.base.at(pageAt), 303)
        throw new WrongMethod(request.method, allowed)
      },
      handler: async () => undefined,
    })
  }
}

/** Sets what every response needs, also the response to a request that fails half-way through the steps. */
function beginExchange(
  deps: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  { cookies, addresses }: { readonly cookies: RequestCookies; readonly addresses: ClientAddresses },
): void {
  const begun = deps.system.monotonic()
  const parts = currentRequest()
  // The response is closed when it has been handed on as a whole, or when the client has left.
  reply.raw.on('close', () => {
    parts?.end()
    endTrace(request, reply, { path: pathForRecords(deps, request), parts })
    if (reply.raw.headersSent) noteAnswer(deps, request, reply, { ms: deps.system.monotonic() - begun, parts })
  })
  // Read once: the framework makes a new object of options each time.
  request.route = request.routeOptions.config
  request.cookies = cookies
  request.caller = guestFrom(clientOf(request, addresses))
  request.parameters = Parameters.none
  setCommonHeaders(deps, request, reply)
}

/** The steps after the caller has been recognised. */
async function admit(deps: Services, cors: Cors, request: FastifyRequest): Promise<void> {
  const { caller } = request
  requireTokenScope(request)
  const { skipAuth, csrfExempt, allowWithoutMfa } = request.route
  if (allowWithoutMfa !== true) await deps.factorPolicy.requirePresent(caller)
  // A browser adds cookies and Basic credentials to other sites' requests; and a sign-in sets a cookie.
  const matters = csrfExempt !== true && (skipAuth === true || !isGuest(caller))
  const isAllowed = (origin: string): boolean => origin === deps.base.origin || cors.trusts(origin)
  if (matters) refuseCrossSite(request.method, request.headers, isAllowed)
  if (addsData(request)) deps.requireSpace?.()
}

function clientOf(request: FastifyRequest, addresses: ClientAddresses): Client {
  const { 'user-agent': userAgent = '' } = request.headers
  return {
    address: addresses.of(request.raw.socket.remoteAddress ?? '', request.headers),
    userAgent: userAgent.slice(0, MAX_USER_AGENT),
    device: request.cookies.deviceToken,
  }
}

/** Everything that may store new rows. Signing in and operating the service stay possible while the disk is full. */
const addsData = ({ method, route: { url = '' } }: FastifyRequest): boolean =>
  writing.has(method) && !/^\/(auth|management|echo|validator)\b/.test(url)

const writing: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

function parametersOf(request: FastifyRequest): Parameters {
  if (request.url.includes('%00')) throw new InvalidInput('bad-request', 'The address contains a NUL character.')
  const { text = '' } = request.query as { readonly text?: string }
  return text === '' ? Parameters.none : Parameters.parse(text, 'invalid-query')
}

/** RFC 9112 3.2. @throws {InvalidInput} */
function requireHost({ raw }: FastifyRequest): void {
  if (raw.httpVersion === '1.1' && raw.headers.host === undefined)
    throw new InvalidInput('bad-request', 'The request has no `Host` header.')
}

/** D1.6. A page replaces the policy by its own. */
const headersOfAll = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
}
const headersOfHttps = { ...headersOfAll, 'strict-transport-security': 'max-age=31536000' }

const commonHeaders = ({ base }: Services): Record<string, string> => (base.isHttps ? headersOfHttps : headersOfAll)

const setCommonHeaders = (deps: Services, request: FastifyRequest, reply: FastifyReply): FastifyReply =>
  reply.headers(commonHeaders(deps)).header('x-request-id', request.id)

/** Every response has a policy; characters that would end the directive are escaped. */
function addReports(reply: FastifyReply, url: string): void {
  const policy = String(reply.getHeader('content-security-policy'))
  // A refusal in place of a response that was about to be sent has it already.
  if (policy.includes('; report-uri ')) return
  const escaped = new URL(url).href.replaceAll(';', '%3B').replaceAll(',', '%2C')
  reply.header('content-security-policy', `${policy}; report-uri ${escaped}`)
}

function setCacheHeaders(request: FastifyRequest, reply: FastifyReply): void {
  // The address of the route, because the requested one may contain escapes.
  if ((request.route.url ?? request.url).startsWith('/auth/')) reply.header('cache-control', 'no-store')
  else if (!isGuest(request.caller) && reply.getHeader('cache-control') !== 'no-store')
    reply.header('cache-control', 'private')
}

/** Whether the request is for the content origin. Nothing there is done for a user, so their credentials are not read. */
const isForContent = ({ contentOrigin }: Services, { headers }: FastifyRequest): boolean =>
  contentOrigin?.isAt(headers.host) === true

/** The query is left out, because it may contain private data; so is the ticket in an address of the content origin. */
const pathForRecords = (deps: Services, request: FastifyRequest): string =>
  isForContent(deps, request) ? (request.route.url ?? '') : (request.url.split('?')[0] ?? '')

/** Counts the request and writes one log line. */
function noteAnswer(
  deps: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  { ms, parts }: { readonly ms: Milliseconds; readonly parts: RequestParts | undefined },
): void {
  const { log, metrics } = deps
  const { method, route } = request
  metrics.answered({ method, route: route.url, status: reply.statusCode, seconds: ms / 1000 })
  if (parts) deps.slowRequests.note(request, reply, { ms, spent: parts.spent })
  if (!log.isLevelEnabled('info')) return
  log.info(
    {
      requestId: request.id,
      method: request.method,
      path: pathForRecords(deps, request),
      status: reply.statusCode,
      ms: Math.round(ms),
      user: request.caller.user.id,
      address: request.caller.client.address,
      ...(request.trace ? { traceId: request.trace.traceId } : {}),
    },
    'request',
  )
}

/** Maximum number of waiting requests per connection. Few clients pipeline, and proxies do not. */
const MAX_WAITING = 100

/** The latest request of a connection, its response and the one before, and how many requests of the connection wait. */
interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly earlier: ServerResponse | undefined
  readonly waiting: number
}

const latest = new WeakMap<Socket, Exchange>()
const refused = new WeakSet<Socket>()

/**
 * Begins a request when the response before it on its connection has ended (RFC 9112 9.3.2), unless the connection has ended with that.
 * Closes a connection on which too many requests wait.
 */
function beginInOrder(request: IncomingMessage, response: ServerResponse, begin: () => void): void {
  const { socket } = request
  const before = latest.get(socket)
  const waiting = before && !before.response.closed ? before.waiting + 1 : 0
  latest.set(socket, { request, response, earlier: before?.response, waiting })
  if (waiting > MAX_WAITING) socket.destroy()
  else if (waiting === 0) begin()
  else onResponseEnd(before?.response, () => socket.writable && begin())
}

/** Whether a request of the connection waits for its response. */
const isAnswering = (socket: Socket): boolean => latest.get(socket)?.response.closed === false

/**
 * Answers what is not a valid request once, after the requests before it.
 * @param answer is told whether the message has been answered already, if the rest of its body is what is not valid
 */
function answerInOrder(socket: Socket, answer: (hasAnswer: boolean) => void): void {
  if (refused.has(socket)) return
  refused.add(socket)
  const exchange = latest.get(socket)
  const isBody = exchange?.request.complete === false
  const before = isBody ? exchange.earlier : exchange?.response
  onResponseEnd(socket.writable ? before : undefined, () => answer(isBody && exchange.response.headersSent))
}
