import { createHmac, timingSafeEqual } from 'node:crypto'
import type { System } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'
import type { EphemeralStore } from '../../stores/ephemeral-store.ts'
import { digestOf } from '../../accounts/tokens.ts'

/** What a challenge is for. A response to it is valid for nothing else. */
export interface ChallengePurpose {
  readonly kind: 'register' | 'sign-in' | 'factor' | 'fresh'
  /** The user who asked for it; absent for a sign-in without a name. */
  readonly userId?: string
  /** The session or the pending login that asked for it. */
  readonly boundTo?: string
}

/** Time in which a person must use their passkey. */
export const CHALLENGE_TTL: Milliseconds = 300_000
/** A key makes challenges for a day, and verifies them until the last of them has expired. */
const KEY_PERIOD: Milliseconds = 86_400_000
const KEY_BYTES = 32
const NONCE_BYTES = 16
const TIME_BYTES = 6
const HEAD_BYTES = NONCE_BYTES + TIME_BYTES
const MAC_BYTES = 32

/**
 * Challenges of WebAuthn (D29.3). A challenge is a nonce, its time of expiry and a MAC over both and its purpose. Only the key and the used
 * challenges are stored, so requests for challenges fill no memory. Every node that shares the store accepts each challenge, and the nodes
 * together accept it once.
 */
export class PasskeyChallenges {
  readonly #store: EphemeralStore
  readonly #system: System

  constructor(store: EphemeralStore, system: System) {
    this.#store = store
    this.#system = system
  }

  async issue(purpose: ChallengePurpose): Promise<Uint8Array<ArrayBuffer>> {
    const expires = this.#system.now() + CHALLENGE_TTL
    const head = Buffer.alloc(HEAD_BYTES)
    head.set(this.#system.randomBytes(NONCE_BYTES))
    head.writeUIntBE(expires, NONCE_BYTES, TIME_BYTES)
    const key = await this.#key(expires)
    return new Uint8Array([...head, ...mac(key, head, purpose)])
  }

  /** Whether the challenge was issued for this purpose and has not expired. It may have been used. */
  async isValid(challenge: string, purpose: ChallengePurpose): Promise<boolean> {
    const bytes = Buffer.from(challenge, 'base64url')
    // Other spellings of the same bytes would count as challenges that have not been used.
    if (bytes.length !== HEAD_BYTES + MAC_BYTES || bytes.toString('base64url') !== challenge) return false
    const head = bytes.subarray(0, HEAD_BYTES)
    const expires = head.readUIntBE(NONCE_BYTES, TIME_BYTES)
    if (this.#isOver(expires)) return false
    const key = await this.#store.get<string>(keyName(expires))
    return key !== undefined && timingSafeEqual(bytes.subarray(HEAD_BYTES), mac(key, head, purpose))
  }

  /** Returns true for exactly one caller. Call it last, when all else about the response is right. */
  async use(challenge: string): Promise<boolean> {
    return await this.#store.add(`passkey-used:${digestOf(challenge)}`, true, CHALLENGE_TTL)
  }

  /** True also for a time further ahead than any challenge lasts: this service never wrote it, or the clock has been set back. */
  #isOver(expires: Milliseconds): boolean {
    const left = expires - this.#system.now()
    return left <= 0 || left > CHALLENGE_TTL
  }

  async #key(expires: Milliseconds): Promise<string> {
    const name = keyName(expires)
    const known = await this.#store.get<string>(name)
    if (known !== undefined) return known
    const fresh = Buffer.from(this.#system.randomBytes(KEY_BYTES)).toString('base64url')
    const isFirst = await this.#store.add(name, fresh, KEY_PERIOD + CHALLENGE_TTL)
    return isFirst ? fresh : ((await this.#store.get<string>(name)) ?? fresh)
  }
}

const keyName = (expires: Milliseconds): string => `passkey-key:${Math.floor(expires / KEY_PERIOD)}`

/** None of the parts contains a line break. */
const mac = (key: string, head: Uint8Array, { kind, userId = '', boundTo = '' }: ChallengePurpose): Buffer =>
  createHmac('sha256', Buffer.from(key, 'base64url')).update(head).update(`${kind}\n${userId}\n${boundTo}`).digest()
