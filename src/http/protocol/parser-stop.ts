import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** The parser that `node:http` gives to a connection, as far as it is used here. */
interface Parser {
  /** Called for each head. Its result says how the parser goes on. */
  onIncoming: (request: IncomingMessage, keepsAlive: boolean) => number
  /** One of these is called after each read, with the number of bytes. */
  [callback: number]: (parsed: number | Error) => void
  /** What has been read. */
  getCurrentBuffer(): Buffer
  resume(): void
}

/** `on_headers_complete` of llhttp: go on as usual, or pause behind this head. */
const [GO_ON, PAUSE] = [0, 21]

/** Whether to stop behind the head of this request; `isFirst` of those in one read. */
type MustStop = (request: IncomingMessage, isFirst: boolean) => boolean

/**
 * Makes the parser of a connection stop in the middle of a read, once. By itself it parses all that Node has read, up to 64 KiB, which
 * can be more than two thousand requests or ten thousand chunks of a body.
 * @param goOn gets what has to be parsed next
 */
export function stopBehindHead(socket: Socket, mustStop: MustStop, goOn: (unparsed: Buffer) => void): void {
  const { parser } = socket as Socket & { readonly parser: Parser }
  const { kOnExecute } = parser.constructor as unknown as { readonly kOnExecute: number }
  const { onIncoming, [kOnExecute]: onRead } = parser
  let isFirst = true
  let last: IncomingMessage | undefined
  parser.onIncoming = (request, keepsAlive) => {
    const result = onIncoming(request, keepsAlive)
    if (result === GO_ON && mustStop(request, isFirst)) {
      last = request
      parser.onIncoming = onIncoming
      return PAUSE
    }
    isFirst = false
    return result
  }
  parser[kOnExecute] = result => {
    isFirst = true
    if (!last) return onRead?.(result)
    // Node takes the pause for an error, except behind a request for another protocol.
    const parsed =
      typeof result === 'number' ? result : (result as Error & { readonly bytesParsed: number }).bytesParsed
    const rest = parser.getCurrentBuffer().subarray(parsed)
    parser[kOnExecute] = onRead as never
    parser.resume()
    onRead?.(parsed)
    goOn(rest.length > 0 || hasBody(last) ? rest : NOTHING)
  }
}

/** A request without a body ends when the parser goes on. Line breaks before the next one mean nothing (RFC 9112 2.2). */
const NOTHING = Buffer.from('\r\n')

/** RFC 9112 6.3. */
const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
