import { hash, createHash, createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { System } from '../base/system.ts'

/**
 * The part of a random token that the database stores: enough to recognise the token, not to use it. Random tokens need no
 * slow hash.
 */
export const digestOf = (token: string): string => hash('sha256', token)

interface Owned {
  readonly token: string
  readonly userId: string
}

/**
 * A name for a session that other users may see. With the handle a permitted user can end the session, but cannot use it. It
 * contains a dot, which no token does, and does not begin with a hyphen, which commands would take for an option.
 */
export const handleOf = ({ token, userId }: Owned): string =>
  `${createHash('sha256').update(`handle\n${token}`).digest('hex')}.${userId}`

const HANDLE = /^[\da-f]{64}\.([\w-]{1,128})$/

/** The id of the user whose session a handle names; `undefined` for a token, and for any text that is no handle. */
export const userOfHandle = (handle: string): string | undefined => HANDLE.exec(handle)?.[1]

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
const SECRET_BYTES = 32

/** The values derived from one secret: its public name, and one key for each purpose. */
interface Keys {
  readonly name: string
  readonly naming: Uint8Array
  readonly sealing: Uint8Array
  readonly binding: Uint8Array
}

/**
 * Keeps tokens out of the store. A session is found by a MAC of its token and holds the token sealed, because the list of
 * sessions shows it (I2.3). An attacker who reads the store gets no usable token. The seal also names the owner, so
 * an attacker who can write to the store cannot turn one user's session into another's.
 */
export class TokenSealer {
  readonly #keys: readonly Keys[]
  readonly #system: System

  /** @param secrets 32 random bytes each. The first one seals and all of them open, so that secrets can be rotated. */
  constructor(secrets: readonly Uint8Array[], system: System) {
    if (secrets.length === 0 || secrets.some(({ length }) => length !== SECRET_BYTES)) {
      throw new TypeError(`a token sealer needs secrets of ${SECRET_BYTES} bytes`)
    }
    this.#keys = secrets.map(secret => ({
      name: Buffer.from(derive(secret, 'name', 6)).toString('base64url'),
      naming: derive(secret, 'token to id', 32),
      sealing: derive(secret, 'seal', 32),
      binding: derive(secret, 'bind', 32),
    }))
    this.#system = system
  }

  /** The keys under which the session of this token may be found, one per secret; new sessions use the first. */
  idsOf(token: string): readonly [string, ...string[]] {
    const [first, ...others] = this.#keys.map(({ naming }) =>
      createHmac('sha256', naming).update(token).digest('base64url'),
    )
    return [first ?? '', ...others]
  }

  /** @param owner id of the user whom the seal is bound to; no other owner can open it */
  seal(token: string, owner: string): string {
    const [{ name, sealing, binding }] = this.#keys as [Keys]
    const nonce = this.#system.randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(ALGORITHM, sealing, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(owner))
    const sealed = Buffer.concat([nonce, cipher.update(token, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return `${name}.${sealed.toString('base64url')}.${bound(binding, token, owner).toString('base64url')}`
  }

  /** Whether the seal belongs to this token and owner. Same result as comparing with `open`, in a quarter of the time. */
  isOf(sealed: string, token: string, owner: string): boolean {
    const [name, , text = ''] = sealed.split('.')
    const keys = this.#keys.find(keys => keys.name === name)
    const mac = Buffer.from(text, 'base64url')
    const expected = keys && bound(keys.binding, token, owner)
    return expected?.length === mac.length && timingSafeEqual(expected, mac)
  }

  /** Returns the token, or `undefined` when the secret has been removed, or the seal is not ours or not this owner's. */
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

/** User ids contain no line break, so it separates the parts. */
const bound = (key: Uint8Array, token: string, owner: string): Buffer =>
  createHmac('sha256', key).update(`${owner}\n${token}`).digest()

/** RFC 5869; the secret is random already, so it needs no salt. */
const derive = (secret: Uint8Array, purpose: string, length: number): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', secret, '', `stowage ${purpose}`, length))
