import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Bytes, Milliseconds } from '../../base/units.ts'

/** This much of an unwanted body is still read, so that the client can read the response. */
const MAX_DRAINED: Bytes = 8 * 1_048_576
const LONGEST_DRAIN: Milliseconds = 5000

/**
 * After a response that left the body unread, the rest is read and dropped up to a limit, then the connection
 * is closed. Closing at once would make the system discard the response; reading everything would let a
 * refused upload run to its end.
 */
export function drainUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  // Added before Node's own listener, which would discard the incoming data if no handler had begun to read.
  response.prependListener('finish', () => {
    if (!request.complete) request.read(0)
    void closeAfterBody(request)
  })
}

async function closeAfterBody(request: IncomingMessage): Promise<void> {
  if (!request.complete && !(await drain(request))) request.socket.destroy()
}

/** Reads the rest of a body and drops it. Resolves to false when the rest exceeds the limit. */
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

/** Time from the last byte of the upload to its response. One more than promised, because timers may fire a millisecond early. */
const LISTENS_AFTER: Milliseconds = 20 + 1

/**
 * Delays the response to a chunked upload for superagent on Node, which starts to listen only after its upload has closed. It
 * would miss an immediate response, also an error response, and wait for half a minute (W3.8.1).
 */
export async function holdForLateListener(request: IncomingMessage): Promise<void> {
  if (!request.complete && !request.destroyed) await drain(request)
  await new Promise(resolve => setTimeout(resolve, LISTENS_AFTER))
}

/** True when the response must be delayed. A client that sends `Expect: 100-continue` has not begun to send the body. */
export const isLateListener = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined && headers.expect === undefined && isSuperagent(headers)

/**
 * Old releases of superagent on Node send their name. Current ones send no `User-Agent`; they are recognised by that and by
 * the headers that they always send, because the published client must work unmodified (D12).
 */
function isSuperagent({ 'user-agent': name, 'accept-encoding': encodings, connection }: IncomingHttpHeaders): boolean {
  if (name !== undefined) return name.startsWith('node-superagent')
  return encodings === 'gzip, deflate' && connection?.toLowerCase() === 'close'
}
