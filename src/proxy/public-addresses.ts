import { isIPv4 } from 'node:net'
import { AddressRanges } from '../base/address-ranges.ts'

/**
 * Addresses outside the public internet (IANA's special-purpose registry), and those where clouds keep
 * secrets for their machines.
 */
const closed4 = new AddressRanges([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  // Multicast, reserved, broadcast.
  '224.0.0.0/3',
])

/**
 * The only part of IPv6 that has been assigned so far. IPv4 in IPv6 (mapped, translated by NAT64), loopback
 * and link-local addresses are outside.
 */
const open6 = new AddressRanges(['2000::/3'])
/** Exceptions within it: protocols (Teredo among them), documentation, 6to4. */
const closed6 = new AddressRanges(['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'])

/** True for an IP address that is reachable from the whole internet; false for a text that is not an address. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !closed4.has(address)
  // A zone names an interface of this machine.
  return !address.includes('%') && open6.has(address) && !closed6.has(address)
}
