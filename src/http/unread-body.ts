import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Bytes, Milliseconds } from '../base/units.ts'

/** So much of a body that nobody wants is still taken, so that the client gets to read the answer. */
const MOST_DRAINED: Bytes = 8 * 1_048_576
const LONGEST_DRAIN: Milliseconds = 5000

/**
 * After an answer that left the body unread, the rest is read and dropped within bounds, then the connection is closed:
 * closing at once would make the system discard the answer, reading on would let a refused upload run to its end.
 */
export function drainUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  response.on('finish', () => {
    if (request.complete) return
    let drained = 0
    const { socket } = request
    const giveUp = (): void => {
      socket.destroy()
    }
    const timer = setTimeout(giveUp, LONGEST_DRAIN).unref()
    request.on('data', (chunk: Uint8Array) => {
      drained += chunk.length
      if (drained > MOST_DRAINED) giveUp()
    })
    request.once('close', () => clearTimeout(timer))
    // A reader that still waits for bytes would keep the stream from flowing.
    request.removeAllListeners('readable')
    request.resume()
  })
}
