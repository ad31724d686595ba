import { createHash } from 'node:crypto'
import { networkOf } from '../accounts/caller.ts'
import { Overloaded } from '../base/errors.ts'
import type { System } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import type { EphemeralStore } from '../stores/ephemeral-store.ts'
import type { LoginFlow } from './identity-provider.ts'
import { SsoRefused } from './refusal.ts'

/** Long enough for a second factor and a password change at the provider (D8.2). */
export const FLOW_TTL: Milliseconds = 900_000
const ID_BYTES = 32
const MINUTE: Milliseconds = 60_000
/** Flows in progress of one IPv4 address or IPv6 /64. A whole campus can share one address. */
const MAX_PER_NETWORK = 2_000
/** Flows in progress of all networks together. */
const MAX_FLOWS = 200_000

const flowKey = (id: string): string => `sso-flow:${id}`

const signedOutKey = (provider: string, logoutKey: string): string =>
  `sso-signed-out:${createHash('sha256').update(`${provider}\n${logoutKey}`).digest('base64url')}`

/** Begins the keys of the counters; strangers can create one for each network that they can send from. */
export const FLOW_COUNT_PREFIX = 'sso-flows-from:'
const TOTAL = 'sso-flows-total'

/** What the one who begins a flow decides. */
export type NewFlow = Pick<
  LoginFlow,
  'provider' | 'entityId' | 'successUrl' | 'failureUrl' | 'browser' | 'verifier' | 'isLogout'
>

/** Flows in progress by the minute in which they began. */
type Counts = Readonly<Record<string, number>>

/**
 * Logins in progress, stored on the server: nothing depends on a cookie that a browser may withhold when a provider posts
 * its response (D8.2). Each can be used once. Any client can begin logins. When a network has too many in progress, its next
 * one is rejected; a flow that another browser began is never dropped.
 */
export class LoginFlows {
  readonly #store: EphemeralStore
  readonly #system: System

  constructor(store: EphemeralStore, system: System) {
    this.#store = store
    this.#system = system
  }

  /** @param address of the client. @throws {Overloaded} when too many logins of its network are in progress */
  async create(given: NewFlow, address: string): Promise<LoginFlow> {
    const network = networkOf(address)
    await this.#count(FLOW_COUNT_PREFIX + network, MAX_PER_NETWORK, 'from your address')
    await this.#count(TOTAL, MAX_FLOWS, 'at once')
    const expires = this.#system.now() + FLOW_TTL
    // An id in XML must not begin with a digit.
    const flow: LoginFlow = { ...given, id: this.#random(), requestId: `_${this.#random()}`, expires, network }
    await this.#store.add(flowKey(flow.id), flow, FLOW_TTL)
    return flow
  }

  /** Removes and returns the flow with this id. */
  async consume(id: string): Promise<LoginFlow | undefined> {
    const flow = await this.#store.take<LoginFlow>(flowKey(id))
    if (flow) for (const key of [FLOW_COUNT_PREFIX + flow.network, TOTAL]) await this.#uncount(key, flow)
    return flow
  }

  /** Puts a flow back whose response could not be checked for lack of capacity, so that the browser can send it again. */
  async restore(flow: LoginFlow): Promise<void> {
    const left = flow.expires - this.#system.now()
    if (left > 0) await this.#store.add(flowKey(flow.id), flow, left)
  }

  /** Of many requests with the same assertion, on any node, one passes (D8.3). @throws {SsoRefused} `replay` */
  async consumeAssertionId(provider: string, assertionId: string, until: Milliseconds): Promise<void> {
    const ttl = Math.max(1, until - this.#system.now())
    if (await this.#store.add(`sso-used:${provider}:${assertionId}`, true, ttl)) return
    throw new SsoRefused({ check: 'replay', expected: 'an assertion that has not been used', received: assertionId })
  }

  /** Remembers that a provider has ended one of its sessions, while assertions of it could still arrive. */
  async noteSignedOut(provider: string, logoutKey: string, until: Milliseconds): Promise<void> {
    const ttl = Math.max(1, until - this.#system.now())
    await this.#store.add(signedOutKey(provider, logoutKey), true, ttl)
  }

  async isSignedOut(provider: string, logoutKey: string): Promise<boolean> {
    return (await this.#store.get(signedOutKey(provider, logoutKey))) !== undefined
  }

  async #count(key: string, max: number, where: string): Promise<void> {
    const now = minuteOf(this.#system.now())
    let isFull = false
    await this.#store.update<Counts>(key, old => {
      const live = Object.entries(old ?? {}).filter(([minute]) => Number(minute) >= now - FLOW_TTL / MINUTE)
      isFull = live.reduce((sum, [, count]) => sum + count, 0) >= max
      const counts = Object.fromEntries(live)
      return { value: isFull ? counts : { ...counts, [now]: (counts[now] ?? 0) + 1 }, ttl: FLOW_TTL + MINUTE }
    })
    if (isFull) throw new Overloaded(`Too many logins ${where} are in progress. Try again in a minute.`, MINUTE / 1000)
  }

  async #uncount(key: string, { expires }: LoginFlow): Promise<void> {
    const minute = minuteOf(expires - FLOW_TTL)
    await this.#store.update<Counts>(
      key,
      old => old && { value: { ...old, [minute]: Math.max(0, (old[minute] ?? 0) - 1) } },
    )
  }

  #random(): string {
    return Buffer.from(this.#system.randomBytes(ID_BYTES)).toString('base64url')
  }
}

const minuteOf = (time: Milliseconds): number => Math.floor(time / MINUTE)
