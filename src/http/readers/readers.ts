import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { shareOf } from '../../accounts/caller.ts'
import { InvalidInput } from '../../base/errors.ts'
import { refusalFrom } from '../../base/refusals.ts'
import { TaskLimitExceeded } from '../../workers/worker-pool.ts'
import { clientGoneSignal } from '../protocol/body.ts'
import type { Route } from '../route.ts'
import type { Uses } from '../services.ts'
import { addVary } from '../protocol/negotiate.ts'
import { heavyReads } from './heavy-reads.ts'
import type { ReadAnswer, Readers } from './read-task.ts'

type Handle = Route['handle']

/** Wraps the handler of a route: heavy reads go to another thread, all others to the handler itself. */
export function withReaders({ method, url, handle }: Route, { readers, entries }: Uses<'readers' | 'entries'>): Handle {
  const isHeavy = method === 'GET' ? heavyReads[url] : undefined
  if (!isHeavy || !readers) return handle
  return async (request, reply) =>
    (await isHeavy(request, entries)) ? await handOn(readers, request, reply) : await handle(request, reply)
}

async function handOn(readers: Readers, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const answer = await answerOf(readers, request, reply)
  if ('refused' in answer) throw refusalFrom(answer.refused)
  const { status, headers, body } = answer
  reply.status(status)
  for (const name in headers) {
    if (name === 'vary') for (const one of headers[name]?.split(', ') ?? []) addVary(reply, one)
    else reply.header(name, headers[name])
  }
  // The framework sends what is returned. It would wait for the end of a reply that was sent here, which takes longer.
  if (typeof body === 'string') return body
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  // A script is made of the text.
  return request.callback === undefined ? bytes : bytes.toString()
}

/** The headers that an answer depends on. Reading needs no credentials. */
const NAMES = [
  'accept',
  'accept-encoding',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-unmodified-since',
  'range',
  'if-range',
] as const

function headersFor({ method, callback, raw }: FastifyRequest): IncomingHttpHeaders {
  const headers = Object.fromEntries(NAMES.flatMap(name => (name in raw.headers ? [[name, raw.headers[name]]] : [])))
  // A script is made of the text, and the response to HEAD describes the text.
  return callback !== undefined || method === 'HEAD' ? { ...headers, 'accept-encoding': 'identity' } : headers
}

async function answerOf(readers: Readers, request: FastifyRequest, reply: FastifyReply): Promise<ReadAnswer> {
  const { caller, url } = request
  const task = { url, headers: headersFor(request), caller }
  try {
    return await readers.run(task, shareOf(caller), () => clientGoneSignal(reply))
  } catch (error) {
    if (!(error instanceof TaskLimitExceeded)) throw error
    throw new InvalidInput(
      'query-too-costly',
      'The request exceeds the limits on time and memory. Request less at once.',
      {
        cause: error,
      },
    )
  }
}
