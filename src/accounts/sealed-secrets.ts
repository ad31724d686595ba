import type { System } from '../base/system.ts'
import { refusalFor } from '../stores/disk.ts'
import { TokenSealer } from './tokens.ts'

/**
 * Seals secrets that are needed again, so that a copy of the database is neither a second factor nor a public link. The keys are read, and
 * a key file is created, when the first secret is sealed or opened.
 */
export class SealedSecrets {
  readonly #keys: () => Promise<readonly Uint8Array[]>
  readonly #system: System
  readonly #purpose: string
  #sealer: Promise<TokenSealer> | undefined

  /**
   * @param keys the first key seals, and all of them open. They may be the keys of sessions, whose seals name user ids
   * @param purpose what the secret opens: a secret that was sealed for another purpose is refused
   */
  constructor(keys: () => Promise<readonly Uint8Array[]>, system: System, purpose: string) {
    this.#keys = keys
    this.#system = system
    this.#purpose = purpose
  }

  /** @param owner id of a user @throws {ServiceError} when the keys cannot be read */
  async seal(secret: Uint8Array, owner: string): Promise<string> {
    return (await this.#load()).seal(Buffer.from(secret).toString('base64url'), `${this.#purpose} of ${owner}`)
  }

  /** `undefined` when the key no longer exists, or the secret was sealed for another owner. */
  async open(sealed: string, owner: string): Promise<Uint8Array | undefined> {
    const text = (await this.#load()).open(sealed, `${this.#purpose} of ${owner}`)
    return text === undefined ? undefined : Buffer.from(text, 'base64url')
  }

  async #load(): Promise<TokenSealer> {
    this.#sealer ??= this.#keys().then(keys => new TokenSealer(keys, this.#system))
    try {
      return await this.#sealer
    } catch (error) {
      // The operator may repair the file while the service runs.
      this.#sealer = undefined
      throw refusalFor(error, 'The key file')
    }
  }
}
