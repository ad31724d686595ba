import { Resolver } from 'node:dns/promises'
import { isIP, isIPv4 } from 'node:net'
import { type Caller, denied, isGuest } from '../accounts/caller.ts'
import { Forbidden, InvalidInput } from '../base/errors.ts'
import type { Milliseconds } from '../base/units.ts'
import { isPublicAddress } from './public-addresses.ts'

/** Which hosts are treated otherwise than all others; as `host`, which stands for the usual ports, or `host:port`. */
export interface Hosts {
  /** From these, guests may have documents fetched too. */
  readonly forGuests: readonly string[]
  /** These may be at addresses that are not public. */
  readonly private: readonly string[]
}

export interface Address {
  readonly address: string
  readonly family: number
}

/** All addresses of a host; none where there is no such host. */
export type Resolve = (hostname: string) => Promise<readonly Address[]>

/** A URL that may be fetched, and where from: whatever its name resolves to later. */
export interface Target {
  readonly url: URL
  readonly addresses: readonly Address[]
}

const LONGEST_URL = 8192

/** @throws {InvalidInput} `invalid-uri` for anything but a plain http(s) URL */
export function readTarget(text: string): URL {
  const authority = /^https?:\/\/([^/?#\\]+)(?=[/?#]|$)/i.exec(text)?.[1]
  // What `URL` would drop or turn silently is refused: two programs could read it differently.
  // oxlint-disable-next-line no-control-regex -- control characters are just what is refused
  const isPlain = authority !== undefined && text.length <= LONGEST_URL && !/[\u0000-\u0020\u007f\\]/.test(text)
  if (!isPlain || !URL.canParse(text)) throw unusable('an absolute http or https URL')
  const url = new URL(text)
  if (authority.includes('@') || url.username !== '' || url.password !== '') throw unusable('a URL without user name')
  // 0x7f.1, 017700000001 and the like are addresses too; nobody writes them in good faith.
  const isOdd = isIPv4(url.hostname) && authority.replace(/:\d*$/, '') !== url.hostname
  if (isOdd) throw unusable('a URL with its IP address in the usual notation')
  url.hash = ''
  return url
}

/** Judges whether the URL may be fetched for the caller. @throws {Unauthenticated | Forbidden} */
export async function judgeTarget(url: URL, caller: Caller, hosts: Hosts, resolve: Resolve): Promise<Target> {
  if (isGuest(caller) && !isListed(url, hosts.forGuests))
    throw denied(caller, 'have documents of other servers fetched')
  const isPrivate = isListed(url, hosts.private)
  if (!isPrivate && !isUsualPort(portOf(url))) throw refused(url)
  const literal = url.hostname.replace(/^\[|\]$/g, '')
  const family = isIP(literal)
  const addresses = family === 0 ? await resolve(url.hostname) : [{ address: literal, family }]
  // Of mixed ones none is taken: a name that is public and private at once is set up to mislead. And a name that is
  // unknown is refused alike, or inside names could be found out by asking.
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

/** Below 1024 other protocols are at home, some of which take a request of HTTP for their own. */
const isUsualPort = (port: number): boolean => port === 80 || port === 443 || port >= 1024

const refused = ({ host }: URL): Forbidden =>
  new Forbidden('host-refused', `Nothing is fetched from ${host}: it is unknown or not public.`)

const unusable = (expected: string): InvalidInput => new InvalidInput('invalid-uri', `\`url\` is not ${expected}.`)

const DNS_TIMEOUT: Milliseconds = 5000

/** Asks DNS itself: the system's own resolver would take up threads that files need, as long as a slow server likes. */
export const resolveByDns: Resolve = async hostname => {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT, tries: 1 })
  const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  const found = (result: PromiseSettledResult<string[]>, family: number): Address[] =>
    result.status === 'fulfilled' ? result.value.map(address => ({ address, family })) : []
  return [...found(four, 4), ...found(six, 6)]
}
