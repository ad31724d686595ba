import type { IncomingMessage, ServerResponse } from 'node:http'

type Done = () => void

/** What is to be done when a connection ends, for the responses that it still owes. */
const byConnection = new WeakMap<object, Set<Done>>()

/**
 * Calls `done` exactly once: when the response has been handed on as a whole, or when its client has left; at once if that is over. A
 * response that waits for an earlier one of its connection reports nothing itself when the client leaves.
 */
export function onResponseEnd({ socket }: IncomingMessage, response: ServerResponse, done: Done): void {
  if (response.closed || socket.destroyed) return done()
  let owed = byConnection.get(socket)
  if (!owed) {
    const all = new Set<Done>()
    owed = all
    byConnection.set(socket, all)
    socket.once('close', () => {
      for (const end of all) end()
    })
  }
  const ends = owed
  const end = (): void => {
    if (ends.delete(end)) done()
  }
  ends.add(end)
  response.once('close', end)
}
