import { createServer, type RequestListener, type Server } from 'node:http'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { guestFrom, isGuest, rateLimitKey } from '../accounts/caller.ts'
import type { Client } from '../accounts/sessions.ts'
import { InvalidInput, NotFound, WrongMethod } from '../base/errors.ts'
import { beginPhase, currentRequest, inRequest, RequestTimings, timed } from '../base/request-timings.ts'
import type { Milliseconds } from '../base/units.ts'
import { announcesBody, Bodies, dropUnreadBody } from './protocol/body.ts'
import { holdForLateListener, isLateListener } from './protocol/late-listener.ts'
import { Parameters } from './protocol/parameters.ts'
import { allowedMethods, KnownAddresses } from './allowed-methods.ts'
import { noteAccess, recogniseCaller, requireTokenScope } from './caller.ts'
import { originConstraint, onlyAt } from './content-origin.ts'
import { ClientAddresses } from './protocol/client-address.ts'
import { AuthCookie, RequestCookies } from './protocol/cookies.ts'
import { Cors } from './protocol/cors.ts'
import { refuseCrossSite } from './protocol/cross-site.ts'
import { asScript, callbackOf } from './protocol/jsonp.ts'
import { Compression, isCompressible } from './protocol/compression.ts'
import { addVary, isNavigation, removeCodingFromTags } from './protocol/negotiate.ts'
import { answerMalformed, sendProblem } from './problem.ts'
import { Outages } from './outages.ts'
import { noSchemas } from './protocol/no-schemas.ts'
import { answerInOrder, inOrder, isAnswering } from './protocol/request-order.ts'
import { withReaders } from './readers/readers.ts'
import { methodHeaderPatterns, routeOf } from './method-override.ts'
import type { BoundRoute } from './bound-route.ts'
import { parameterConstraint, selectedBy } from './selecting-parameter.ts'
import { bindRoutes } from './routes/routes.ts'
import type { HttpOptions, HttpServices } from './http-services.ts'
import type { Offer } from './interface/route.ts'
import type { AppServices } from './app-services.ts'
import { beginTrace, endTrace } from './request-records.ts'

const MAX_HEADER_BYTES = 16_384
const HEADERS_TIMEOUT = 60_000
/** Longer than the idle time of the usual reverse proxies, so that they and not we close idle connections. */
const KEEP_ALIVE = 75_000
/** The maximum that the process can handle. Limits for one client address are the task of a proxy. */
const MAX_CONNECTIONS = 10_000
/** After this number the connection ends with its response, and the client opens a new connection. */
const MAX_REQUESTS_PER_CONNECTION = 10_000
const MAX_PATH_PART = 1024
/** Maximum number of header fields. Browsers send about twenty. The limit on size alone would allow 2,000, which cost more than most requests. */
const MAX_FIELDS = 200
const MAX_USER_AGENT = 512

type Services = AppServices & HttpServices

/** The application: the steps below in their order, then the route. Does not listen yet. @param offers the routes of features */
export function createApp(services: AppServices, options: HttpOptions, offers: readonly Offer[] = []): FastifyInstance {
  const deps: Services = {
    ...services,
    options,
    get base() {
      return options.address.base
    },
    startedAt: services.system.now(),
    bodies: new Bodies(services.system, options.body),
    cookie: new AuthCookie(options.cookie),
    outages: new Outages(services.log),
  }
  const addresses = new ClientAddresses(options.trustedProxies)
  const routes = bindRoutes(deps, offers)
  const app = createFastify(deps, addresses, methodHeaderPatterns(routes))
  const cors = new Cors(options.cors, [...new Set(routes.flatMap(({ crossOrigin }) => crossOrigin ?? []))])
  const compression = new Compression()

  app.decorateRequest('route', undefined as never)
  app.decorateRequest('caller', undefined as never)
  app.decorateRequest('cookies', undefined as never)
  app.decorateRequest('parameters', undefined as never)
  app.decorateRequest('callback', undefined)
  app.decorateRequest('trace', undefined)
  app.decorateRequest('span', undefined)
  app.decorateRequest('refusal', undefined)

  app.addHook('onRequest', (request, _reply, done) => {
    beginTrace(deps, request)
    inRequest(new RequestTimings(request.span?.observer, request.trace), () => deps.cache.during(done))
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
      return void (await reply.status(204).headers(cors.preflightHeaders(request.headers.origin)).send())
    }
    request.parameters = parametersOf(request)
    // `ignoreAuth` (I4): from here on the request has no `auth_token`, on any route.
    if (request.parameters.has('ignoreAuth')) request.cookies = request.cookies.withoutAuth()
    request.callback = options.jsonp ? callbackOf(request) : undefined
    const isKnown = request.route.skipAuth !== true && request.callback === undefined
    const caller = isKnown ? await recogniseCaller(deps, request, reply) : request.caller
    request.caller = deps.acquaintances ? await deps.acquaintances.introduce(caller) : caller
    await authorize(deps, cors, request)
  })
  app.addHook('onSend', async (request, reply, payload) => {
    closeWhileDraining(deps, reply)
    setCacheHeaders(request, reply)
    if (options.cspReportUrl !== undefined) addReports(reply, options.cspReportUrl)
    await noteAccess(deps, request, reply)
    if (isLateListener(request.raw)) await holdForLateListener(request.raw, reply.raw)
    else if (announcesBody(request.raw)) void dropUnreadBody(request.raw, reply.raw)
    const text = asScript(reply, payload, request.callback)
    const share = rateLimitKey(request.caller)
    const sent = isCompressible(request) ? await compression.apply(request, reply, text, share) : text
    beginPhase('client', 'response')
    return sent
  })
  app.setReplySerializer(payload => timed('serialising', 'JSON', () => JSON.stringify(payload)))

  // Handlers read bodies themselves, after they have checked the caller, so Fastify parses no body beforehand.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.setErrorHandler((error, request, reply) => sendProblem(deps, error, request, reply))
  const known = new KnownAddresses(routes)
  app.setNotFoundHandler(async request => {
    const allowed = known.find(request.url.split('?')[0] ?? '', isForContent(deps, request))
    if (allowed && !app.supportedMethods.includes(request.method)) throw new WrongMethod(request.method, allowed)
    throw new NotFound('not-found', 'There is nothing at this address.')
  })
  register(app, deps, routes)
  return app
}

function createFastify(deps: Services, addresses: ClientAddresses, methodHeaders: readonly RegExp[]): FastifyInstance {
  const { contentOrigin } = deps
  const prefix = Buffer.from(deps.system.randomBytes(4)).toString('hex')
  let count = 0
  const app = Fastify({
    logger: false,
    genReqId: () => `${prefix}-${++count}`,
    rewriteUrl: request =>
      routeOf(
        request,
        contentOrigin?.isAt(request.headers.host) === true ? contentOrigin.base : deps.base,
        methodHeaders,
      ),
    // The query is parsed in a later step, strictly; here Fastify keeps only the text.
    routerOptions: {
      querystringParser: text => ({ text }),
      maxParamLength: MAX_PATH_PART,
      caseSensitive: true,
      constraints: { ...parameterConstraint(), ...(contentOrigin ? originConstraint(contentOrigin) : {}) },
    },
    exposeHeadRoutes: false,
    schemaController: noSchemas,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    serverFactory: handle => createHttpServer(handle, deps.options.body.idleTimeout),
    clientErrorHandler: (error, socket) => {
      answerInOrder(socket, hasAnswer => answerMalformed(error, socket, { headers: commonHeaders(deps), hasAnswer }))
    },
    frameworkErrors: (error, request, reply) => {
      // The address could not be read, so none of the steps runs.
      beginTrace(deps, request)
      beginExchange(deps, request, reply, { cookies: RequestCookies.none, addresses })
      reply.header('cache-control', 'no-store')
      closeWhileDraining(deps, reply)
      if (announcesBody(request.raw)) void dropUnreadBody(request.raw, reply.raw)
      void sendProblem(deps, error, request, reply)
    },
  })
  return app
}

/** A server that keeps the order of requests, also of those whose address the framework refuses. */
function createHttpServer(handle: RequestListener, idleTimeout: Milliseconds): Server {
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT,
      keepAliveTimeout: KEEP_ALIVE,
      // Bodies have time limits of their own (`body.ts`); a total limit would cut long uploads off.
      requestTimeout: 0,
      // A missing `Host` is refused by a step of our own, so that the refusal looks like all others.
      requireHostHeader: false,
    },
    inOrder(handle),
  )
  server.setTimeout(idleTimeout)
  server.maxHeadersCount = MAX_FIELDS
  // A client that takes nothing of a response loses its connection, a slow handler does not.
  server.on('timeout', socket => {
    if (socket.writableLength > 0 || !isAnswering(socket)) socket.destroy()
  })
  server.maxConnections = MAX_CONNECTIONS
  server.maxRequestsPerSocket = MAX_REQUESTS_PER_CONNECTION
  // A client that sent `Expect: 100-continue` gets the permission when a handler reads the body, or the error response (D7.4).
  server.on('checkContinue', (request, response) => server.emit('request', request, response))
  // There is no other expectation, and a server may ignore unknown ones (RFC 9110 10.1.1).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  return server
}

/**
 * Registers each route, HEAD for every GET, and a 405 for the other usual methods of a known address, which lists the allowed methods.
 */
function register(app: FastifyInstance, deps: Services, all: readonly BoundRoute[]): void {
  for (const url of new Set(all.map(route => route.url))) {
    const some = all.filter(route => route.url === url)
    const allowed = allowedMethods(some)
    for (const route of some) {
      const { method, handle: _handle, pageAt: _pageAt, pageOf: _pageOf, heavy: _heavy, ...marks } = route
      const handle = withPage(route, withReaders(route, deps), deps)
      // A reply that is returned at once has been sent. The framework would wait for its end.
      const handler: typeof handle = (request, reply) => {
        const result = handle(request, reply)
        return result === reply ? undefined : result
      }
      app.route({
        method: method === 'GET' ? ['GET', 'HEAD'] : method,
        url,
        handler,
        config: marks,
        constraints: { ...onlyAt(route), ...selectedBy(route) },
      })
    }
    const pageAt = some.find(route => route.pageAt !== undefined)?.pageAt
    app.route({
      method: app.supportedMethods.filter(method => !allowed.includes(method)),
      url,
      config: { skipAuth: true, htmlErrors: some.some(route => route.htmlErrors), headers: some[0]?.headers ?? {} },
      constraints: onlyAt(some[0]),
      onRequest: async (request, reply) => {
        if (pageAt !== undefined && request.method === 'GET' && isNavigation(request))
          return await reply.redirect(deps.base.at(pageAt), 303)
        throw new WrongMethod(request.method, allowed)
      },
      handler: async () => undefined,
    })
  }
}

/** Leads browsers to the page about an address. Programs, which have no page to show, get the address itself. */
function withPage({ pageOf }: BoundRoute, handle: BoundRoute['handle'], deps: Services): BoundRoute['handle'] {
  if (!pageOf) return handle
  return (request, reply) => {
    addVary(reply, 'Sec-Fetch-Mode')
    const isOpened = request.method === 'GET' && request.headers['sec-fetch-mode'] === 'navigate'
    const page = isOpened && !request.url.includes('?') ? pageOf(request.params as Record<string, string>) : undefined
    return page === undefined ? handle(request, reply) : reply.redirect(deps.base.at(page), 303)
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
  const timings = currentRequest()
  // The response is closed when it has been handed on as a whole, or when the client has left.
  reply.raw.on('close', () => {
    timings?.end()
    endTrace(request, reply, { path: pathForRecords(deps, request), timings })
    if (reply.raw.headersSent) noteAnswer(deps, request, reply, { ms: deps.system.monotonic() - begun, timings })
  })
  // Read once: the framework makes a new object of options each time.
  request.route = request.routeOptions.config
  request.cookies = cookies
  request.caller = guestFrom(clientOf(request, addresses))
  request.parameters = Parameters.none
  setCommonHeaders(deps, request, reply).headers(request.route.headers ?? {})
}

/** The steps after the caller has been recognised. */
async function authorize(deps: Services, cors: Cors, request: FastifyRequest): Promise<void> {
  const { caller } = request
  requireTokenScope(request)
  const { skipAuth, csrfExempt, allowWithoutMfa } = request.route
  if (allowWithoutMfa !== true) await deps.secondFactor.requirePresent(caller)
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

/** An idle kept-alive connection would delay the end of the service, or be cut off by it. */
function closeWhileDraining({ stopping }: Services, reply: FastifyReply): void {
  if (stopping.isDraining) reply.header('connection', 'close')
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
  { ms, timings }: { readonly ms: Milliseconds; readonly timings: RequestTimings | undefined },
): void {
  const { log, metrics, records } = deps
  const { method, route } = request
  metrics.answered({ method, route: route.url, status: reply.statusCode, seconds: ms / 1000 })
  const { id } = request
  if (timings) records.answered?.({ id, method, route: route.url, status: reply.statusCode, ms, spent: timings.spent })
  if (!log.isLevelEnabled('info')) return
  log.info(
    {
      requestId: id,
      method,
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
