import { BlockList, isIP, isIPv4 } from 'node:net'

/** Reads `Forwarded` and `X-Forwarded-For` from right to left, and only what trusted peers wrote (D1.3). */
export class ClientAddresses {
  readonly #trusted = new BlockList()

  /** @param trusted CIDR ranges of the operator's own proxies. */
  constructor(trusted: readonly string[]) {
    for (const range of trusted) {
      const [address = '', prefix] = range.split('/')
      const family = isIPv4(address) ? 'ipv4' : 'ipv6'
      this.#trusted.addSubnet(address, Number(prefix ?? (family === 'ipv4' ? 32 : 128)), family)
    }
  }

  /** @param peer the address at the other end of the connection */
  of(
    peer: string,
    headers: { readonly forwarded?: string | undefined; readonly xForwardedFor?: string | undefined },
  ): string {
    let address = plain(peer)
    // Most requests claim nothing: then it does not matter who is trusted.
    if (headers.forwarded === undefined && headers.xForwardedFor === undefined) return address
    if (!this.#isTrusted(address)) return address
    for (const hop of hopsOf(headers).reverse()) {
      const claimed = addressOf(hop)
      // A trusted proxy that hides or garbles the address: the last one known is the best there is.
      if (claimed === undefined) return address
      address = claimed
      if (!this.#isTrusted(address)) return address
    }
    return address
  }

  #isTrusted(address: string): boolean {
    return isIP(address) !== 0 && this.#trusted.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
  }
}

/** IPv4 addresses arrive as `::ffff:192.0.2.1` on a socket that serves both families. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '')

/** The standard header wins over the older one; both are not mixed. */
function hopsOf({
  forwarded,
  xForwardedFor,
}: {
  forwarded?: string | undefined
  xForwardedFor?: string | undefined
}): string[] {
  if (forwarded === undefined) return xForwardedFor?.split(',') ?? []
  // RFC 7239: elements are separated by commas, and an IPv6 address is quoted; no comma occurs inside either.
  return forwarded.split(',').map(element => {
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
