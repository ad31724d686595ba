import type { Entries } from '../../content/entries.ts'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { rateLimitKey } from '../../accounts/caller.ts'
import { InvalidInput, StatementTimeout } from '../../base/errors.ts'
import { currentRequest } from '../../base/request-timings.ts'
import { TaskLimitExceeded } from '../../workers/thread-pool.ts'
import { clientGoneSignal } from '../protocol/response-end.ts'
import { addVary } from '../protocol/negotiate.ts'
import type { BoundRoute } from '../bound-route.ts'
import type { ReadAnswer, Readers } from './read-task.ts'

type Handle = BoundRoute['handle']

/** Wraps the handler of a route: heavy reads go to another thread, all others to the handler itself. */
export function withReaders(
  { method, handle, heavy }: BoundRoute,
  { readers, entries }: { readonly readers: Readers | undefined; readonly entries: Entries },
): Handle {
  if (method !== 'GET' || !heavy || !readers) return handle
  if (heavy === true) return (request, reply) => handOn(readers, request, reply)
  return async (request, reply) =>
    (await heavy(request, entries)) ? await handOn(readers, request, reply) : await handle(request, reply)
}

async function handOn(readers: Readers, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const { status, headers, body } = await answerOf(readers, request, reply)
  reply.status(status)
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'vary') for (const one of value.split(', ')) addVary(reply, one)
    else reply.header(name, value)
  }
  return typeof body === 'string' ? body : Buffer.from(body)
}

/** The headers that a response depends on. Reading needs no credentials, and the response is compressed here. */
const NAMES = [
  'accept',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-unmodified-since',
  'range',
  'if-range',
] as const

const headersFor = ({ headers }: FastifyRequest): IncomingHttpHeaders =>
  Object.fromEntries(NAMES.flatMap(name => (name in headers ? [[name, headers[name]]] : [])))

async function answerOf(readers: Readers, request: FastifyRequest, reply: FastifyReply): Promise<ReadAnswer> {
  const { caller, url } = request
  const { user, groups, grant, acquaintances } = caller
  const rights = { groups, ...(grant ? { grant } : {}), ...(acquaintances ? { acquaintances } : {}) }
  const task = { url, headers: headersFor(request), callback: request.callback, caller: { id: user.id, ...rights } }
  try {
    const answer = await readers.run(task, { of: rateLimitKey(caller), signal: clientGoneSignal(reply) })
    currentRequest()?.add(answer.spent)
    return answer
  } catch (error) {
    if (!(error instanceof TaskLimitExceeded || error instanceof StatementTimeout)) throw error
    throw new InvalidInput(
      'query-too-costly',
      'The request exceeds the limits on time and memory. Request less at once.',
      { cause: error },
    )
  }
}
