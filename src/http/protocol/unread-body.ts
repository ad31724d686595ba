import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Bytes, Milliseconds } from '../../base/units.ts'

/** So much of a body that nobody wants is still taken, so that the client gets to read the answer. */
const MAX_DRAINED: Bytes = 8 * 1_048_576
const LONGEST_DRAIN: Milliseconds = 5000

/**
 * After an answer that left the body unread, the rest is read and dropped within bounds, then the connection is closed:
 * closing at once would make the system discard the answer, reading on would let a refused upload run to its end.
 */
export function drainUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  // Before Node's own listener, which would have all that comes thrown away unseen if nobody had begun to read.
  response.prependListener('finish', () => {
    if (!request.complete) request.read(0)
    void closeAfterBody(request)
  })
}

async function closeAfterBody(request: IncomingMessage): Promise<void> {
  if (!request.complete && !(await drain(request))) request.socket.destroy()
}

/** Reads the rest of a body and drops it. Resolves to false when there is more of it than is worth while. */
export function drain(request: IncomingMessage): Promise<boolean> {
  return new Promise(resolve => {
    let drained = 0
    const stop = (isAtItsEnd: boolean): void => {
      clearTimeout(timer)
      request.off('data', count)
      resolve(isAtItsEnd)
    }
    const timer = setTimeout(() => stop(false), LONGEST_DRAIN).unref()
    const count = (chunk: Uint8Array): void => {
      drained += chunk.length
      if (drained > MAX_DRAINED) stop(false)
    }
    request.on('data', count)
    for (const end of ['end', 'close'] as const) request.once(end, () => stop(true))
    // A reader that still waits for bytes would keep the stream from flowing.
    request.removeAllListeners('readable')
    request.resume()
  })
}
