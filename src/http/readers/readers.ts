import type { FastifyReply, FastifyRequest } from 'fastify'
import { shareOf } from '../../accounts/caller.ts'
import { andThen } from '../../base/concurrency.ts'
import { InvalidInput } from '../../base/errors.ts'
import { refusalFrom } from '../../workers/refusals.ts'
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
  return (request, reply) =>
    andThen(isHeavy(request, entries), heavy => (heavy ? handOn(readers, request, reply) : handle(request, reply)))
}

async function handOn(readers: Readers, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const answer = await answerOf(readers, request, reply)
  if ('refused' in answer) throw refusalFrom(answer.refused)
  const { vary, ...headers } = answer.headers
  for (const name of vary?.split(', ') ?? []) addVary(reply, name)
  reply.headers(headers)
  const { body } = answer
  if (typeof body === 'string') return await reply.status(answer.status).send(body)
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  // A script is made of the text.
  return await reply.status(answer.status).send(request.callback === undefined ? bytes : bytes.toString())
}

async function answerOf(readers: Readers, request: FastifyRequest, reply: FastifyReply): Promise<ReadAnswer> {
  const { caller, url } = request
  // Reading needs neither credentials nor hashes.
  const { cookie: _cookie, authorization: _authorization, ...others } = request.raw.headers
  // A script is made of the text, and the response to HEAD describes the text.
  const isText = request.callback !== undefined || request.method === 'HEAD'
  const headers = isText ? { ...others, 'accept-encoding': 'identity' } : others
  const { session: _session, ...known } = caller
  const task = { url, headers, caller: { ...known, user: { ...caller.user, password: undefined } } }
  try {
    return await readers.run(task, shareOf(caller), clientGoneSignal(reply))
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
