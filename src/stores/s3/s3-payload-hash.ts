import { createHmac, type Hmac, subtle } from 'node:crypto'

/** What the SDK hashes. */
type Data = string | ArrayBuffer | ArrayBufferView

/**
 * SHA-256 for the signatures of requests. A request to a server without TLS is signed with the digest of its body, a part of a file of up
 * to 64 MiB. Node's thread pool computes that digest; this thread only copies the part.
 */
export class PayloadHash {
  readonly #secret: Uint8Array | undefined
  #hmac: Hmac | undefined
  #chunks: Uint8Array[] = []

  constructor(secret?: Data) {
    this.#secret = secret === undefined ? undefined : bytesOf(secret)
    this.reset()
  }

  update(chunk: Data): void {
    if (this.#hmac) this.#hmac.update(bytesOf(chunk))
    else this.#chunks.push(bytesOf(chunk))
  }

  async digest(): Promise<Uint8Array> {
    if (this.#hmac) return this.#hmac.digest()
    const [first = new Uint8Array(), ...more] = this.#chunks
    const whole = more.length === 0 ? first : Buffer.concat(this.#chunks)
    return new Uint8Array(await subtle.digest('SHA-256', whole))
  }

  reset(): void {
    this.#hmac = this.#secret && createHmac('sha256', this.#secret)
    this.#chunks = []
  }
}

function bytesOf(data: Data): Uint8Array {
  if (typeof data === 'string') return Buffer.from(data)
  return ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data)
}
