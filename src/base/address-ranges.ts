import { BlockList, isIP, isIPv4 } from 'node:net'

/** IP addresses given as CIDR ranges or single addresses, for instance `192.0.2.0/24` and `2001:db8::1`. */
export class AddressRanges {
  readonly #list = new BlockList()

  /** @param ranges valid by {@link isAddressRange} */
  constructor(ranges: readonly string[]) {
    for (const range of ranges) {
      const [address = '', prefix] = range.split('/')
      const family = isIPv4(address) ? 'ipv4' : 'ipv6'
      this.#list.addSubnet(address, Number(prefix ?? (family === 'ipv4' ? 32 : 128)), family)
    }
  }

  has(address: string): boolean {
    return isIP(address) !== 0 && this.#list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
  }
}

export function isAddressRange(text: string): boolean {
  const [, address = '', prefix] = /^([0-9a-fA-F.:]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const version = isIP(address)
  return version !== 0 && Number(prefix ?? 0) <= (version === 4 ? 32 : 128)
}
