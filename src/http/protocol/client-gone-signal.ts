import type { FastifyReply } from 'fastify'
import { InvalidInput } from '../../base/errors.ts'

/** A signal that aborts when the client disconnects before it has the response. */
export function clientGoneSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort(new InvalidInput('bad-request', 'The client has left.'))
  })
  return controller.signal
}
