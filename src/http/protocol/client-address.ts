import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { AddressRanges } from '../../base/address-ranges.ts'

/** The request headers in which proxies forward the address of the client. */
export type ForwardingHeader = 'x-forwarded-for' | 'forwarded'

/**
 * Finds the address of the client. It reads one header, chosen by the operator, from right to left, and only
 * what trusted proxies wrote (D1.3). A proxy sets one of the headers and forwards the other as the client
 * wrote it, so the other is ignored.
 */
export class ClientAddresses {
  readonly #trusted: AddressRanges
  readonly #header: ForwardingHeader

  /** @param trusted CIDR ranges of the operator's own proxies */
  constructor(trusted: readonly string[], header: ForwardingHeader) {
    this.#header = header
    this.#trusted = new AddressRanges(trusted)
  }

  /** @param peer the address at the other end of the connection */
  of(peer: string, headers: IncomingHttpHeaders): string {
    let address = plain(peer)
    const header = headers[this.#header]
    // Most requests lack the header, and then the list of trusted proxies does not matter.
    if (header === undefined || !this.#trusted.has(address)) return address
    const text = Array.isArray(header) ? header.join(',') : header
    for (const hop of this.#header === 'forwarded' ? forwardedFor(text) : text.split(',').reverse()) {
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

/**
 * The values of `for`, the nearest hop first. In RFC 7239 commas separate the elements, and an IPv6 address
 * is quoted; neither contains a comma.
 */
function forwardedFor(header: string): string[] {
  const elements = header.split(',').reverse()
  return elements.map(element => {
    const pair = element.split(';').find(part => /^\s*for\s*=/i.test(part)) ?? ''
    return pair.slice(pair.indexOf('=') + 1)
  })
}

function addressOf(hop: string): string | undefined {
  const text = hop.trim().replace(/^"(.*)"$/, '$1')
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1]
  const address = plain(bracketed ?? text.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1'))
  return isIP(address) === 0 ? undefined : address
}
