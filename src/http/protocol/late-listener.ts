import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { Milliseconds } from '../../base/units.ts'
import { drain } from './unread-body.ts'

/** From the last byte of the upload to its answer, and one more, since timers may fire a millisecond early. */
const LISTENS_AFTER: Milliseconds = 20 + 1

/**
 * Holds the answer to a chunked upload back for clients that begin to listen only when their upload has closed, superagent
 * on Node: it would miss an answer that comes at once, a refusal too, and wait for half a minute (W3.8.1).
 */
export async function holdForLateListener(request: IncomingMessage): Promise<void> {
  if (!request.complete && !request.destroyed) await drain(request)
  await wait(LISTENS_AFTER)
}

/** Whether the answer has to be held back. A client that asks for permission first has not begun to send. */
export const isLateListener = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined && headers.expect === undefined && isSuperagent(headers)

/**
 * Superagent on Node said its name once. Since it no longer does, it is known by having none, together with the headers that
 * it always sends: the published client must be waited for as it comes (D12).
 */
function isSuperagent({ 'user-agent': name, 'accept-encoding': encodings, connection }: IncomingHttpHeaders): boolean {
  if (name !== undefined) return name.startsWith('node-superagent')
  return encodings === 'gzip, deflate' && connection?.toLowerCase() === 'close'
}
