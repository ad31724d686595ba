import { ReadableStream } from 'node:stream/web'
import { StartupError } from '../../base/errors.ts'
import { DecryptionFailed } from '../../backup/damage.ts'

/** Passes bytes on, encrypted or decrypted. */
export type Cipher = (bytes: AsyncIterable<Uint8Array>) => Promise<AsyncIterable<Uint8Array>>

export const plain: Cipher = async bytes => bytes

/** The format is that of `age`, so its tools read a file as well. The library is loaded where it is used. */
const load = () => import('age-encryption')

/** Encrypts to these public keys (`age1…`). @throws {StartupError} when one is not a key */
export async function encryptionTo(recipients: readonly string[]): Promise<Cipher> {
  if (recipients.length === 0) return plain
  const { Encrypter } = await load()
  const encrypter = new Encrypter()
  for (const recipient of recipients) {
    try {
      encrypter.addRecipient(recipient)
    } catch (cause) {
      throw new StartupError(`service.backup.encrypt-to: ${recipient} is not a public key of age.`, { cause })
    }
  }
  return async bytes => (await encrypter.encrypt(streamOf(bytes))) as AsyncIterable<Uint8Array>
}

/**
 * Decrypts with the secret keys in the text of an identity file, as `age-keygen` writes it. The returned cipher and its streams throw
 * {@link DecryptionFailed}.
 * @throws {StartupError} when the text contains no key
 */
export async function decryptionWith(text: string, source: string): Promise<Cipher> {
  const { Decrypter } = await load()
  const decrypter = new Decrypter()
  const lines = text.split('\n').map(line => line.trim())
  const identities = lines.filter(line => line !== '' && !line.startsWith('#'))
  if (identities.length === 0) throw new StartupError(`${source} contains no secret key of age (AGE-SECRET-KEY-1…).`)
  for (const identity of identities) {
    try {
      decrypter.addIdentity(identity)
    } catch (cause) {
      // The message of the library could contain the key.
      throw new StartupError(`${source} contains a line that is not a secret key of age (AGE-SECRET-KEY-1…).`, {
        cause,
      })
    }
  }
  return async bytes => {
    let unreadable: { readonly error: unknown } | undefined
    const watched = (async function* () {
      try {
        yield* bytes
      } catch (error) {
        unreadable = { error }
        throw error
      }
    })()
    const reasonOf = (cause: unknown): unknown =>
      unreadable
        ? unreadable.error
        : new DecryptionFailed(`The secret keys in ${source} cannot decrypt this backup.`, { cause })
    try {
      const decrypted = (await decrypter.decrypt(streamOf(watched))) as AsyncIterable<Uint8Array>
      return (async function* () {
        try {
          yield* decrypted
        } catch (error) {
          throw reasonOf(error)
        }
      })()
    } catch (error) {
      throw reasonOf(error)
    }
  }
}

const streamOf = (bytes: AsyncIterable<Uint8Array>): globalThis.ReadableStream<Uint8Array> =>
  ReadableStream.from(bytes) as globalThis.ReadableStream<Uint8Array>
