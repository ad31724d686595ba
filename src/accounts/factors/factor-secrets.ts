import type { System } from '../../base/system.ts'
import { KeyedTokenSealer } from '../tokens.ts'

/**
 * Seals the secrets of TOTP, so that a copy of the database is no second factor. The keys are read, and a key file is created,
 * when the first secret is sealed or opened.
 */
export class FactorSecrets {
  readonly #keys: () => Promise<readonly Uint8Array[]>
  readonly #system: System
  #sealer: Promise<KeyedTokenSealer> | undefined

  /** @param keys the first seals, and all of them open */
  constructor(keys: () => Promise<readonly Uint8Array[]>, system: System) {
    this.#keys = keys
    this.#system = system
  }

  /** @throws {StartupError} when the keys cannot be read */
  async seal(secret: Uint8Array, userId: string): Promise<string> {
    return (await this.#load()).seal(Buffer.from(secret).toString('base64url'), ownerOf(userId))
  }

  /** `undefined` when the key is gone, or the seal is that of another user. */
  async open(sealed: string, userId: string): Promise<Uint8Array | undefined> {
    const text = (await this.#load()).open(sealed, ownerOf(userId))
    return text === undefined ? undefined : Buffer.from(text, 'base64url')
  }

  async #load(): Promise<KeyedTokenSealer> {
    this.#sealer ??= this.#keys().then(keys => new KeyedTokenSealer(keys, this.#system))
    try {
      return await this.#sealer
    } catch (error) {
      // The operator may repair the file while the service runs.
      this.#sealer = undefined
      throw error
    }
  }
}

/** The keys may be those of sessions, whose seals name user ids: neither can stand for the other. */
const ownerOf = (userId: string): string => `second factor of ${userId}`
