import { isIPv4, isIP } from 'node:net'
import { AddressRanges } from '../../base/address-ranges.ts'
import { Resolver } from 'node:dns/promises'
import { denied } from '../../accounts/caller-guards.ts'
import { type Caller, isGuest } from '../../accounts/caller.ts'
import { Forbidden, InvalidInput } from '../../base/errors.ts'
import type { Milliseconds } from '../../base/units.ts'

/**
 * Addresses outside the public internet (IANA's special-purpose registry), and addresses at which clouds offer secrets to their machines.
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

/** Hosts with special rules, as `host`, which means the default ports, or `host:port`. */
export interface Hosts {
  /** Guests may fetch documents from these hosts too. */
  readonly forGuests: readonly string[]
  /** These hosts may have private addresses. */
  readonly private: readonly string[]
}

export interface Address {
  readonly address: string
  readonly family: number
}

/** Returns all addresses of a host; none when the host does not exist. */
export type Resolve = (hostname: string) => Promise<readonly Address[]>

/** A URL that may be fetched, with its resolved addresses. A later change of the name has no effect. */
export interface Target {
  readonly url: URL
  readonly addresses: readonly Address[]
}

const MAX_URL = 8192

/** @throws {InvalidInput} `invalid-uri` for anything but a plain http(s) URL */
export function readTarget(text: string): URL {
  const authority = /^https?:\/\/([^/?#\\]+)(?=[/?#]|$)/i.exec(text)?.[1]
  // Characters that `URL` would silently drop or replace are rejected, because two programs could read them
  // differently.
  // oxlint-disable-next-line no-control-regex -- rejecting control characters is the purpose
  const isPlain = authority !== undefined && text.length <= MAX_URL && !/[\u0000-\u0020\u007f\\]/.test(text)
  if (!isPlain || !URL.canParse(text)) throw unusable('an absolute http or https URL')
  const url = new URL(text)
  if (authority.includes('@') || url.username !== '' || url.password !== '') throw unusable('a URL without user name')
  // 0x7f.1, 017700000001 and similar texts are addresses too, and have no honest use.
  const isOdd = isIPv4(url.hostname) && authority.replace(/:\d*$/, '') !== url.hostname
  if (isOdd) throw unusable('a URL with its IP address in the usual notation')
  url.hash = ''
  return url
}

/** Checks that the URL may be fetched for the caller. @throws {Unauthenticated | Forbidden} */
export async function checkTarget(url: URL, caller: Caller, hosts: Hosts, resolve: Resolve): Promise<Target> {
  if (isGuest(caller) && !isListed(url, hosts.forGuests))
    throw denied(caller, 'have documents of other servers fetched')
  const isPrivate = isListed(url, hosts.private)
  if (!isPrivate && !isUsualPort(portOf(url))) throw refused(url)
  const literal = url.hostname.replace(/^\[|\]$/g, '')
  const family = isIP(literal)
  const addresses = family === 0 ? await resolve(url.hostname) : [{ address: literal, family }]
  // Mixed addresses are all rejected: a name that is public and private at once is set up to mislead. An
  // unknown name gets the same error, otherwise callers could discover internal names.
  const isOpen = addresses.length > 0 && (isPrivate || addresses.every(({ address }) => isPublicAddress(address)))
  if (isOpen) return { url, addresses }
  throw refused(url)
}

function isListed(url: URL, list: readonly string[]): boolean {
  const port = portOf(url)
  return list.some(listed => {
    const [, host, listedPort] = /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(listed) ?? []
    return (
      host === url.hostname && (listedPort === undefined ? port === 80 || port === 443 : port === Number(listedPort))
    )
  })
}

const portOf = ({ port, protocol }: URL): number => (port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port))

/** Ports below 1024 belong to other protocols, some of which would accept an HTTP request as their own. */
const isUsualPort = (port: number): boolean => port === 80 || port === 443 || port >= 1024

const refused = ({ host }: URL): Forbidden =>
  new Forbidden('host-refused', `Nothing is fetched from ${host}: it is unknown or not public.`)

const unusable = (expected: string): InvalidInput => new InvalidInput('invalid-uri', `\`url\` is not ${expected}.`)

const DNS_TIMEOUT: Milliseconds = 5000

/**
 * Asks DNS directly: the system's own resolver would occupy threads that files need, for as long as a slow
 * server takes.
 */
export const resolveByDns: Resolve = async hostname => {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT, tries: 1 })
  const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  const found = (result: PromiseSettledResult<string[]>, family: number): Address[] =>
    result.status === 'fulfilled' ? result.value.map(address => ({ address, family })) : []
  return [...found(four, 4), ...found(six, 6)]
}
