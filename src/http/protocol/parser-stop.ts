import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** The parser that `node:http` gives to a connection, as far as it is used here. */
interface Parser {
  /** The request to which the next bytes belong. */
  incoming: IncomingMessage | null
  /** Called for each head. Its result says how the parser goes on. */
  onIncoming: (request: IncomingMessage, keepsAlive: boolean) => number
  /** One of these is called after each read. */
  [callback: number]: (parsed: number | Error) => void
  /** What it has just parsed. */
  getCurrentBuffer(): Buffer
}

/** The parser goes on, and parses a body if there is one. */
const GO_ON = 0
/** It stops behind this head, because another protocol follows. */
const STOP = 2

/** Whether to stop behind the head of this request; `isFirst` of those in one read. */
type MustStop = (request: IncomingMessage, isFirst: boolean) => boolean

/**
 * Makes the parser of a connection stop in the middle of a read, once. By itself it parses all that Node has read, up to 64 KiB, which
 * can be more than two thousand requests or ten thousand chunks of a body. It stops only where another protocol follows, so that is what
 * it is told. Before the next bytes it has to be given a head with the same framing as the one behind which it has stopped; they belong
 * to the same request then.
 * @param goOn gets what has to be parsed next: this head and the rest of what was read
 */
export function stopBehindHead(socket: Socket, mustStop: MustStop, goOn: (unparsed: Buffer) => void): void {
  const { parser } = socket as Socket & { readonly parser: Parser }
  const { kOnExecute } = parser.constructor as unknown as { readonly kOnExecute: number }
  const { onIncoming, [kOnExecute]: onRead } = parser
  let isFirst = true
  let head: Buffer | undefined
  parser.onIncoming = (request, keepsAlive) => {
    const result = onIncoming(request, keepsAlive)
    if (result === GO_ON && mustStop(request, isFirst)) {
      head = headOfSameFraming(request, keepsAlive)
      // It is not complete, although the parser is told that it has no body.
      parser.incoming = null
      parser.onIncoming = () => {
        parser.incoming = request
        parser.onIncoming = onIncoming
        return GO_ON
      }
      return STOP
    }
    isFirst = false
    return result
  }
  parser[kOnExecute] = parsed => {
    isFirst = true
    if (!head || typeof parsed !== 'number') return onRead?.(parsed)
    const rest = parser.getCurrentBuffer().subarray(parsed)
    parser[kOnExecute] = onRead as never
    onRead?.(parsed)
    goOn(Buffer.concat([head, rest]))
  }
}

/** RFC 9112 6.3, 9.3. */
function headOfSameFraming({ rawHeaders }: IncomingMessage, keepsAlive: boolean): Buffer {
  let head = 'POST / HTTP/1.1\r\n'
  for (let n = 0; n < rawHeaders.length; n += 2) {
    if (/^(transfer-encoding|content-length)$/i.test(rawHeaders[n] ?? ''))
      head += `${rawHeaders[n]}: ${rawHeaders[n + 1]}\r\n`
  }
  if (!keepsAlive) head += 'connection: close\r\n'
  return Buffer.from(`${head}\r\n`, 'latin1')
}
