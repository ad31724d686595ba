import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import { InvalidInput } from '../../base/errors.ts'

/** Calls `done` when the response has been handed on as a whole or its client has left; at once if there is none or that is over. */
export function onResponseEnd(response: ServerResponse | undefined, done: () => void): void {
  if (!response || response.closed) done()
  else response.once('close', done)
}

/** A signal that aborts when the client has disconnected before it has the response. */
export function clientGoneSignal({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController()
  onResponseEnd(raw, () => {
    if (!raw.writableFinished) controller.abort(new InvalidInput('bad-request', 'The client has left.'))
  })
  return controller.signal
}
