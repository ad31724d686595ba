import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Milliseconds } from '../../base/units.ts'
import { dropUnreadBody } from './body.ts'

/** Time from the last byte of the upload to its response. 1 ms more than promised, because timers may fire a millisecond early. */
const LISTENS_AFTER: Milliseconds = 20 + 1

/**
 * Delays the response to a chunked upload for superagent on Node, which starts to listen only after its upload has closed. It
 * would miss an immediate response, also an error response, and wait for half a minute (W3.8.1).
 */
export async function holdForLateListener(request: IncomingMessage, response: ServerResponse): Promise<void> {
  await dropUnreadBody(request, response)
  await new Promise(resolve => setTimeout(resolve, LISTENS_AFTER))
}

/** True when the response must be delayed. A client that sends `Expect: 100-continue` has not begun to send the body. */
export const isLateListener = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined && headers.expect === undefined && isSuperagent(headers)

/**
 * Old releases of superagent on Node send their name. Current releases send no `User-Agent`; they are recognised by this and by other
 * headers that they always send, because the published client must work unmodified (D12).
 */
function isSuperagent({ 'user-agent': name, 'accept-encoding': encodings, connection }: IncomingHttpHeaders): boolean {
  if (name !== undefined) return name.startsWith('node-superagent')
  return encodings === 'gzip, deflate' && connection?.toLowerCase() === 'close'
}
