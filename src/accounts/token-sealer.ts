import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { System } from '../base/system.ts'

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
const SECRET_BYTES = 32

/** What is derived from one secret: its public name, and a key for each purpose. */
interface Keys {
  readonly name: string
  readonly naming: Uint8Array
  readonly sealing: Uint8Array
  readonly binding: Uint8Array
}

/** What a store of logins may know of their tokens. */
export interface TokenSealer {
  /** What a login with this token may be called in the store; new ones are called by the first. */
  idsOf(token: string): readonly [string, ...string[]]
  /** @param owner is bound to the token: the seal is good for nobody else. */
  seal(token: string, owner: string): string
  /** Whether the seal is of this token and owner: as `open` would tell, at a quarter of the time. */
  isOf(sealed: string, token: string, owner: string): boolean
  /** The token; `undefined` when the secret is no longer there, or the seal is not ours or not this owner's. */
  open(sealed: string, owner: string): string | undefined
}

/** For a store that ends with the process: whoever reads its memory would find the secrets of a seal there as well. */
export const plainTokens: TokenSealer = {
  idsOf: token => [token],
  seal: token => token,
  isOf: (sealed, token) => sealed === token,
  open: sealed => sealed,
}

/**
 * Keeps tokens out of what is stored: a login is found by a MAC of its token and holds the token sealed, for the list of
 * logins shows it (interface 2.3). Whoever reads the store can use no token; and as the seal says whose login it is, who
 * can write to the store cannot turn one user's login into another's.
 */
export class KeyedTokenSealer implements TokenSealer {
  readonly #keys: readonly Keys[]
  readonly #system: System

  /** @param secrets 32 random bytes each; the first seals, all of them open, so that one can take another's place. */
  constructor(secrets: readonly Uint8Array[], system: System) {
    if (secrets.length === 0 || secrets.some(({ length }) => length !== SECRET_BYTES)) {
      throw new TypeError(`a vault needs secrets of ${SECRET_BYTES} bytes`)
    }
    this.#keys = secrets.map(secret => ({
      name: Buffer.from(derive(secret, 'name', 6)).toString('base64url'),
      naming: derive(secret, 'token to id', 32),
      sealing: derive(secret, 'seal', 32),
      binding: derive(secret, 'bind', 32),
    }))
    this.#system = system
  }

  idsOf(token: string): readonly [string, ...string[]] {
    const [first, ...others] = this.#keys.map(({ naming }) =>
      createHmac('sha256', naming).update(token).digest('base64url'),
    )
    return [first ?? '', ...others]
  }

  seal(token: string, owner: string): string {
    const [{ name, sealing, binding }] = this.#keys as [Keys]
    const nonce = this.#system.randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(ALGORITHM, sealing, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(owner))
    const sealed = Buffer.concat([nonce, cipher.update(token, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return `${name}.${sealed.toString('base64url')}.${bound(binding, token, owner).toString('base64url')}`
  }

  isOf(sealed: string, token: string, owner: string): boolean {
    const [name, , text = ''] = sealed.split('.')
    const keys = this.#keys.find(keys => keys.name === name)
    const mac = Buffer.from(text, 'base64url')
    const expected = keys && bound(keys.binding, token, owner)
    return expected?.length === mac.length && timingSafeEqual(expected, mac)
  }

  open(sealed: string, owner: string): string | undefined {
    const [name, text = ''] = sealed.split('.')
    const keys = this.#keys.find(keys => keys.name === name)
    const bytes = Buffer.from(text, 'base64url')
    if (!keys || bytes.length < NONCE_BYTES + TAG_BYTES) return undefined
    const nonce = bytes.subarray(0, NONCE_BYTES)
    const decipher = createDecipheriv(ALGORITHM, keys.sealing, nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(owner)).setAuthTag(bytes.subarray(-TAG_BYTES))
    try {
      return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    } catch {
      return undefined
    }
  }
}

/** No identifier of a user holds a line break. */
const bound = (key: Uint8Array, token: string, owner: string): Buffer =>
  createHmac('sha256', key).update(`${owner}\n${token}`).digest()

/** RFC 5869; the secret is random already, so it needs no salt. */
const derive = (secret: Uint8Array, purpose: string, length: number): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', secret, '', `stowage ${purpose}`, length))
