import type { HttpServices } from './http-services.ts'
import type { BasicCredentials } from '../accounts/basic-credentials.ts'
import type { Metrics } from './metrics.ts'
import type { QuotaRefusals } from '../content/quota-refusals.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type ErrorCode, errorCodes } from '../base/error-codes.ts'
import * as errors from '../base/errors.ts'
import { InvalidInput } from '../base/errors.ts'
import { QuotaExceeded } from '../files/quota-usage.ts'
import { translateDiskError } from '../stores/disk.ts'
import { challengeProgram } from './caller.ts'
import { pageContext, sendPage } from './page.ts'
import { isNavigation, preferenceAmong } from './protocol/negotiate.ts'
import { errorPage } from './pages/error-page.ts'
import { wordsForProblem } from './pages/messages.ts'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'

/** The advice for the operator in the log; clients do not get it. */
const adviceFor = (error: unknown): string => {
  if (error instanceof errors.StoreDamaged)
    return `a request failed because the database is damaged: stop the service and follow ${errors.StoreDamaged.page}`
  if (error instanceof errors.StorageForbidden)
    return 'a request failed because the service has no permission for a part of its data folder: run `stowage doctor`'
  return 'a request failed because of the storage'
}

/** Refusals that an operator has to do something about. */
const faults = [errors.StorageFull, errors.StorageReadOnly, errors.StoreDamaged, errors.FileUnreadable] as const

class InternalError extends errors.ServiceError {}

/** The body of an error response (D1.4, RFC 9457). */
interface Problem {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>> & { readonly code: ErrorCode }
}

/** Turns any error into a problem. An error that is no refusal becomes a 500 that contains only the id of the request. */
export function problemOf(error: unknown, requestId: string): Problem {
  const refusal = asRefusal(error, requestId)
  const { status, title } = errorCodes[refusal.code]
  return {
    status,
    headers: headersOf(refusal),
    body: {
      type: `urn:stowage:problem:${refusal.code}`,
      title,
      status,
      detail: refusal.message,
      code: refusal.code,
      error: refusal.message,
      ...refusal.extra,
    },
  }
}

function asRefusal(error: unknown, requestId: string): errors.ServiceError {
  if (error instanceof errors.ServiceError) return error
  return (
    fromFramework(error) ?? new InternalError('internal-error', `An internal error occurred. Request ${requestId}.`)
  )
}

/** Refusals of Fastify, as far as a request can cause them. */
function fromFramework(error: unknown): errors.ServiceError | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  switch (code) {
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new errors.InvalidInput('bad-request', 'The path is not valid percent-encoded UTF-8, or too long.')
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new errors.UnsupportedType('unsupported-type', 'The `Content-Type` of the request is not a media type.')
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new errors.InvalidInput('bad-request', 'The `Content-Length` does not match the body.')
    default:
      return undefined
  }
}

function headersOf(error: errors.ServiceError): Record<string, string> {
  if (error instanceof errors.WrongMethod) return { allow: error.allowed.join(', ') }
  if (error instanceof errors.LockedOut || error instanceof errors.Overloaded) {
    return { 'retry-after': String(error.retryAfter) }
  }
  if (error instanceof errors.RangeNotSatisfiable) return { 'content-range': `bytes */${error.size}` }
  return {}
}

/** A user who opens a link to a file without a session signs in first and is then sent back to the file. */
const mayContinueHere = ({ method, route }: FastifyRequest): boolean =>
  method === 'GET' && route.url?.startsWith('/:context/') === true

async function signInFirst({ base }: Pick<HttpServices, 'base'>, request: FastifyRequest, reply: FastifyReply) {
  const query = new URLSearchParams({ successurl: base.at(request.url.slice(1)) })
  await reply.removeHeader('www-authenticate').redirect(`${base.at('auth/login')}?${query.toString()}`, 303)
}

const PROBLEM_TYPE = 'application/problem+json'
const acceptsProblem = preferenceAmong([PROBLEM_TYPE])
const acceptsJson = preferenceAmong(['application/json'])

/** Many clients parse JSON only of the type that they accept. */
const bodyTypeFor = (request: FastifyRequest): string => acceptsProblem(request) ?? acceptsJson(request) ?? PROBLEM_TYPE

/** While the database does not say what the caller may know, they get no numbers. */
async function withKnownNumbers(
  { quotaRefusals, log }: Pick<HttpServices, 'log'> & { readonly quotaRefusals: QuotaRefusals },
  refusal: QuotaExceeded,
  { caller, id: requestId }: FastifyRequest,
): Promise<errors.TooLarge> {
  try {
    return await quotaRefusals.for(caller, refusal)
  } catch (error) {
    log.warn({ err: error, requestId }, 'a refusal has no numbers of the quota, because the rights could not be read')
    return refusal.withoutNumbers()
  }
}

/** Responds with the problem: JSON, or a page for a browser where a person visits (D1.4). */
export async function sendProblem(
  deps: Pick<HttpServices, 'log' | 'base' | 'outages' | 'ui'> & {
    readonly basic: BasicCredentials | undefined
    readonly checkDisk: () => void
    readonly metrics: Metrics
    readonly quotaRefusals: QuotaRefusals
  },
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  // A file can become unreadable while it is read.
  const failure = translateDiskError(thrown)
  const error = failure instanceof QuotaExceeded ? await withKnownNumbers(deps, failure, request) : failure
  const { status, headers, body } = problemOf(error, request.id)
  deps.metrics.refused(body.code)
  request.refusal = body.code
  if (status === 500) deps.log.error({ err: error, requestId: request.id }, 'a request failed')
  if (error instanceof errors.StoreUnavailable) deps.outages.note(error, request.id)
  if (
    error instanceof errors.StorageFull ||
    error instanceof errors.StorageReadOnly ||
    error instanceof errors.StoreUnavailable
  )
    deps.checkDisk()
  if (faults.some(type => error instanceof type)) {
    deps.log.error({ code: body.code, err: error, requestId: request.id }, adviceFor(error))
  }
  reply.status(status).headers(headers)
  if (status === 401) challengeProgram(deps, request, reply)
  const hasHtmlErrors = request.route.htmlErrors === true || request.is404
  if (hasHtmlErrors && isNavigation(request)) {
    if (status === 401 && mayContinueHere(request)) return await signInFirst(deps, request, reply)
    const context = pageContext(deps, request)
    const detail = wordsForProblem(context.words, body.code, body) ?? String(body['detail'])
    const title = context.language === 'en' ? String(body['title']) : context.words.refused
    const isSignIn = request.route.skipAuth === true
    await sendPage(reply, errorPage(context, { title, detail, isSignIn }))
  } else {
    await reply.type(bodyTypeFor(request)).send(body)
  }
}

/** Errors of Node's parser for bytes that are not a valid request. */
const causes: Readonly<Record<string, { readonly status: number; readonly detail: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, detail: 'The header of the request is too long or has too many fields.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: 'The header of the request did not come in time.' },
}

/**
 * Answers bytes that are not a request: the same kind of body and headers as every other refusal has (D1.4, D1.6). A message that has been
 * answered gets no second response, which a proxy could give to another client.
 */
export function answerMalformed(
  error: Error & { readonly code?: string },
  socket: Socket,
  { headers, hasAnswer }: { readonly headers: Readonly<Record<string, string>>; readonly hasAnswer: boolean },
): void {
  // Nothing was asked either on a connection on which nothing has come in time.
  if (error.code === 'ECONNRESET' || hasAnswer || !socket.writable || socket.bytesRead === 0) {
    socket.destroySoon()
    return
  }
  const { status, detail } = causes[error.code ?? ''] ?? { status: 400, detail: 'The request is not valid HTTP.' }
  const body = JSON.stringify({ ...problemOf(new InvalidInput('bad-request', detail), '').body, status })
  const lines = Object.entries({
    ...headers,
    'cache-control': 'no-store',
    'content-type': 'application/problem+json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
}
