import { FLOW_TTL } from '../sso/login-flows.ts'
import type { BaseAddress } from './base-address.ts'
import type { RequestCookies } from './protocol/cookies.ts'

/**
 * Ties a CAS login to the browser that began it (D9.5): the id of its flow, with the lifetime of the flow.
 * Lax, so that the browser sends it when it returns from the CAS server, whatever the flags of the session
 * cookie.
 */
export class FlowCookie {
  readonly #name: string
  readonly #attributes: string

  constructor(base: BaseAddress, secure: boolean) {
    // Under this name browsers take it from this very host only, not from another one of the same domain.
    this.#name = base.isHttps ? '__Host-stowage_cas' : 'stowage_cas'
    this.#attributes = `Path=/; SameSite=Lax; HttpOnly${base.isHttps || secure ? '; Secure' : ''}`
  }

  set(flowId: string): string {
    return `${this.#name}=${flowId}; Max-Age=${FLOW_TTL / 1000}; ${this.#attributes}`
  }

  clear(): string {
    return `${this.#name}=; Max-Age=0; ${this.#attributes}`
  }

  /** `undefined` also when there are several: then another page has set one. */
  read(cookies: RequestCookies): string | undefined {
    const ids = cookies.tokens(this.#name)
    return ids.length === 1 ? ids[0] : undefined
  }
}
