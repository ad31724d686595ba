import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { AddressRanges } from '../../base/address-ranges.ts'

/**
 * Finds the address of the client. It reads `X-Forwarded-For` from right to left, and only what trusted proxies wrote (D1.3). Other headers,
 * such as `Forwarded`, are ignored: a proxy may pass on what the client wrote there.
 */
export class ClientAddresses {
  readonly #trusted: AddressRanges

  /** @param trusted CIDR ranges of the operator's own proxies */
  constructor(trusted: readonly string[]) {
    this.#trusted = new AddressRanges(trusted)
  }

  /** @param peer the address at the other end of the connection */
  of(peer: string, headers: IncomingHttpHeaders): string {
    let address = plain(peer)
    const header = headers['x-forwarded-for']
    // Most requests lack the header, and then the list of trusted proxies does not matter.
    if (header === undefined || !this.#trusted.has(address)) return address
    const text = Array.isArray(header) ? header.join(',') : header
    for (const hop of text.split(',').reverse()) {
      // An empty element of a list does not count (RFC 9110 5.6.1).
      if (hop.trim() === '') continue
      const claimed = addressOf(hop)
      // When a trusted proxy hides or garbles the address, the last known address is used.
      if (claimed === undefined) return address
      address = claimed
      if (!this.#trusted.has(address)) return address
    }
    return address
  }
}

/** IPv4 addresses arrive as `::ffff:192.0.2.1` on a socket that serves both families. */
const plain = (address: string): string =>
  address.startsWith(':') ? address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '') : address

function addressOf(hop: string): string | undefined {
  const text = hop.trim()
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1]
  const address = plain(bracketed ?? text.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1'))
  return isIP(address) === 0 ? undefined : address
}
