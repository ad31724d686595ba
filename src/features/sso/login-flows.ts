import { createHash } from 'node:crypto'
import { FLOW_TTL } from '../../http/browser-cookies.ts'
import { networkOf } from '../../accounts/network.ts'
import { Overloaded } from '../../base/errors.ts'
import type { System } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'
import type { EphemeralStore } from '../../stores/ephemeral-store.ts'
import type { LoginFlow } from './identity-provider.ts'
import { refused } from './refusal.ts'

const ID_BYTES = 32
const MINUTE: Milliseconds = 60_000
/** Maximum number of flows in progress of one IPv4 address or IPv6 /64. A whole campus can share one address. */
const MAX_PER_NETWORK = 2_000
/** Maximum number of flows in progress of one IPv6 /48, which one customer can have with all its 65,536 networks. */
const MAX_PER_SITE = 20_000
/** Maximum number of flows in progress of all networks together. */
const MAX_FLOWS = 200_000
/** A flow counts once for each 1,024 characters of the URLs in its request. A `successurl` can have 15,000. */
const CHARACTERS = 1_024

const flowKey = (id: string): string => `sso-flow:${id}`
/** The form of an id. Guests can send any other text, which is not looked up. */
const ID = /^[\w-]{43}$/

/** A digest, because texts from a provider can have any length and any characters. */
const digestOf = (provider: string, text: string): string =>
  createHash('sha256').update(`${provider}\n${text}`).digest('base64url')
const signedOutKey = (provider: string, logoutKey: string): string => `sso-signed-out:${digestOf(provider, logoutKey)}`

/** The prefix of the keys of the counters. Anyone can create a counter for each network from which they can send. */
const FLOW_COUNT_PREFIX = 'sso-flows-from:'
/** Networks with sign-ons in progress. These counts also limit the sign-ons themselves. */
export const flowCapacity = [{ prefix: FLOW_COUNT_PREFIX, max: 100_000 }]
const TOTAL = 'sso-flows-total'

/** The members of a flow that the code that begins it sets. */
type NewFlow = Pick<
  LoginFlow,
  'provider' | 'entityId' | 'successUrl' | 'failureUrl' | 'browser' | 'verifier' | 'isLogout'
>

/** When sessions ended at the provider; `true`: all with the key. */
type SignedOut = Milliseconds | true

/** Flows in progress, by their weight, by the minute in which they began. */
type Counts = Readonly<Record<string, number>>

/**
 * Sign-ons in progress, stored on the server: nothing depends on a cookie that a browser may withhold when a provider posts its response
 * (D8.2). Each flow can be used once. Any client can begin flows: if a network has too many in progress, its next flow is rejected, and
 * flows of other browsers are never dropped.
 */
export class LoginFlows {
  readonly #store: EphemeralStore
  readonly #system: System

  constructor(store: EphemeralStore, system: System) {
    this.#store = store
    this.#system = system
  }

  /** @param address of the client. @throws {Overloaded} when too many sign-ons of its network are in progress */
  async create(given: NewFlow, address: string): Promise<LoginFlow> {
    const network = networkOf(address)
    const now = minuteOf(this.#system.now())
    for (const [key, { max, where }] of countersOf(network)) {
      if (await this.#count(key, { minute: now, weight: weightOf(given), max })) continue
      throw new Overloaded(`Too many sign-ons ${where} are in progress. Try again in a minute.`, MINUTE / 1000)
    }
    const expires = this.#system.now() + FLOW_TTL
    // An id in XML must not begin with a digit.
    const flow: LoginFlow = { ...given, id: this.#random(), requestId: `_${this.#random()}`, expires, network }
    await this.#store.add(flowKey(flow.id), flow, FLOW_TTL)
    return flow
  }

  /** Removes and returns the flow with this id. */
  async consume(id: string): Promise<LoginFlow | undefined> {
    const flow = ID.test(id) ? await this.#store.take<LoginFlow>(flowKey(id)) : undefined
    if (flow) for (const [key] of countersOf(flow.network)) await this.#uncount(key, flow)
    return flow
  }

  /** Puts a flow back whose response could not be checked for lack of capacity, so that the browser can send it again. */
  async restore(flow: LoginFlow): Promise<void> {
    const left = flow.expires - this.#system.now()
    if (left <= 0) return
    for (const [key] of countersOf(flow.network)) {
      await this.#count(key, { minute: begunIn(flow), weight: weightOf(flow), max: Infinity })
    }
    await this.#store.add(flowKey(flow.id), flow, left)
  }

  /** Of all requests with the same assertion, on any node, only the first is accepted (D8.3). @throws {SsoRefused} `replay` */
  async consumeAssertionId(provider: string, assertionId: string, until: Milliseconds): Promise<void> {
    const ttl = Math.max(1, until - this.#system.now())
    if (await this.#store.add(`sso-used:${digestOf(provider, assertionId)}`, true, ttl)) return
    throw refused('replay', 'an assertion that has not been used', assertionId)
  }

  /**
   * Stores that a provider has ended a session, as long as an assertion of this session could still arrive.
   * @param ended for a key that later sessions have as well: when those with this key ended
   */
  async noteSignedOut(provider: string, logoutKey: string, until: Milliseconds, ended?: Milliseconds): Promise<void> {
    const ttl = Math.max(1, until - this.#system.now())
    await this.#store.update<SignedOut>(signedOutKey(provider, logoutKey), before => {
      const isAll = ended === undefined || before === true
      return { value: isAll ? true : Math.max(ended, before ?? -Infinity), ttl }
    })
  }

  /** @param authenticated when the provider authenticated the user; absent: possibly before the end */
  async isSignedOut(provider: string, logoutKey: string, authenticated = -Infinity): Promise<boolean> {
    const ended = await this.#store.get<SignedOut>(signedOutKey(provider, logoutKey))
    return ended === true || (ended !== undefined && authenticated <= ended)
  }

  /** Returns false, and counts nothing, when the counter has reached its maximum. */
  async #count(key: string, { minute, weight, max }: FlowCount): Promise<boolean> {
    const now = minuteOf(this.#system.now())
    let isFull = false
    await this.#store.update<Counts>(key, old => {
      const live = Object.entries(old ?? {}).filter(([minute]) => Number(minute) >= now - FLOW_TTL / MINUTE)
      isFull = live.reduce((sum, [, count]) => sum + count, 0) >= max
      const counts = Object.fromEntries(live)
      return {
        value: isFull ? counts : { ...counts, [minute]: (counts[minute] ?? 0) + weight },
        ttl: FLOW_TTL + MINUTE,
      }
    })
    return !isFull
  }

  async #uncount(key: string, flow: LoginFlow): Promise<void> {
    const minute = begunIn(flow)
    await this.#store.update<Counts>(
      key,
      old => old && { value: { ...old, [minute]: Math.max(0, (old[minute] ?? 0) - weightOf(flow)) } },
    )
  }

  #random(): string {
    return Buffer.from(this.#system.randomBytes(ID_BYTES)).toString('base64url')
  }
}

interface FlowCount {
  /** In which the flow began. */
  readonly minute: number
  readonly weight: number
  readonly max: number
}

/** The counters of a flow from this network, the narrowest first, each with its maximum. */
function countersOf(network: string): ReadonlyArray<readonly [key: string, { max: number; where: string }]> {
  const groups = network.split(':')
  const site = groups.length > 1 ? [`${groups.slice(0, 3).join(':')}::/48`] : []
  return [
    [FLOW_COUNT_PREFIX + network, { max: MAX_PER_NETWORK, where: 'from your address' }],
    ...site.map(key => [FLOW_COUNT_PREFIX + key, { max: MAX_PER_SITE, where: 'from your address' }] as const),
    [TOTAL, { max: MAX_FLOWS, where: 'at once' }],
  ]
}

const weightOf = ({ successUrl = '', failureUrl = '', entityId = '' }: NewFlow): number =>
  Math.max(1, Math.ceil((successUrl.length + failureUrl.length + entityId.length) / CHARACTERS))

const begunIn = ({ expires }: LoginFlow): number => minuteOf(expires - FLOW_TTL)

const minuteOf = (time: Milliseconds): number => Math.floor(time / MINUTE)
