import { isIPv6 } from 'node:net'

/**
 * The network by which limits count an address: an IPv4 address itself, or the /64 of an IPv6 address, because each customer has at least a
 * /64.
 */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const parts = address.toLowerCase().replace(/%.*/, '').split('::')
  const [head = [], tail = []] = parts.map(part => part.split(':').filter(Boolean))
  // An IPv4 address at the end counts as one group here. This adds a zero too many, but only behind the first four groups.
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0')
  const network = [...head, ...zeros, ...tail].slice(0, 4)
  return `${network.map(group => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
