import type { FastifyReply } from 'fastify'
import { InvalidInput } from '../../base/errors.ts'

/** Aborts when the client leaves before it has its answer. */
export function clientGoneSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort(new InvalidInput('bad-request', 'The client has left.'))
  })
  return controller.signal
}
