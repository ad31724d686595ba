import { SsoRefused } from '../base/errors.ts'
import type { System } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import type { EphemeralStore } from '../stores/ephemeral-store.ts'
import type { LoginFlow } from './identity-provider.ts'

/** Long enough for a second factor and a password change at the provider (D8.2). */
export const FLOW_TTL: Milliseconds = 900_000
const ID_BYTES = 32

const flowKey = (id: string): string => `${FLOW_PREFIX}${id}`

/** Anybody can begin logins, so whoever makes the store bounds them. */
export const FLOW_PREFIX = 'sso-flow:'

/**
 * Logins under way, kept on the server: nothing depends on a cookie that a browser may hold back when a provider posts an
 * answer (D8.2). Each is used once.
 */
export class LoginFlows {
  readonly #store: EphemeralStore
  readonly #system: System

  constructor(store: EphemeralStore, system: System) {
    this.#store = store
    this.#system = system
  }

  async create(given: Pick<LoginFlow, 'provider' | 'successUrl' | 'failureUrl'>): Promise<LoginFlow> {
    // An id in XML must not begin with a digit.
    const flow: LoginFlow = { ...given, id: this.#random(), requestId: `_${this.#random()}` }
    await this.#store.add(flowKey(flow.id), flow, FLOW_TTL)
    return flow
  }

  /** The flow that the answer belongs to, which is over with this. */
  async consume(id: string): Promise<LoginFlow | undefined> {
    return await this.#store.take<LoginFlow>(flowKey(id))
  }

  /** Of many who present the same assertion, on whatever node, one gets past this (D8.3). @throws {SsoRefused} `replay` */
  async consumeAssertionId(provider: string, assertionId: string, until: Milliseconds): Promise<void> {
    const ttl = Math.max(1, until - this.#system.now())
    if (await this.#store.add(`sso-used:${provider}:${assertionId}`, true, ttl)) return
    throw new SsoRefused({ check: 'replay', expected: 'an assertion that has not been used', received: assertionId })
  }

  #random(): string {
    return Buffer.from(this.#system.randomBytes(ID_BYTES)).toString('base64url')
  }
}
