import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import { ServiceError, StartupError } from '../../base/errors.ts'
import type { System } from '../../base/system.ts'
import type { Settings } from '../../config/settings.ts'
import { readStore } from '../../core/open-store.ts'
import type { Database, Queries } from '../../stores/database.ts'
import { schemaVersion } from '../../stores/migrations.ts'
import { sql } from '../../stores/sql.ts'
import { MANIFEST_KEY_STEP } from './backup-runs.ts'
import type { BackupTarget, Generation, ListedGeneration, ManifestKey, ManifestSignature } from './generations.ts'

/** PKCS #8 before the 32 bytes of a private key of Ed25519 (RFC 8410). */
const PRIVATE = Buffer.from('302e020100300506032b657004220420', 'hex')
const KEY_BYTES = 32

/** The key of the store, for all nodes, which is made if there is none. */
export async function manifestKey(database: Database, system: Pick<System, 'randomBytes'>): Promise<ManifestKey> {
  const made = Buffer.from(system.randomBytes(KEY_BYTES)).toString('base64')
  const seed = await database.transaction(async tx => {
    const present = await findSeed(tx)
    if (present === undefined) await tx.run(sql`INSERT INTO backup_keys (seed) VALUES (${made})`)
    return present ?? made
  })
  return keyOf(seed)
}

/** The public key of the store; `undefined` where there is no store, or no backup was made of it yet. */
export async function findManifestKey(settings: Settings): Promise<string | undefined> {
  return await readStoreIfPossible(settings, findPublicKey)
}

/** Settles like `read`; resolves to `undefined` where there is no store, or none that can be read. */
export const readStoreIfPossible = async <T>(
  settings: Settings,
  read: (store: Queries) => Promise<T>,
): Promise<T | undefined> =>
  await readStore(settings, read).catch((error: unknown) => {
    if (error instanceof StartupError || error instanceof ServiceError) return undefined
    throw error
  })

export async function findPublicKey(queries: Queries): Promise<string | undefined> {
  if ((await schemaVersion(queries)) < MANIFEST_KEY_STEP) return undefined
  const seed = await findSeed(queries)
  return seed === undefined ? undefined : keyOf(seed).name
}

const findSeed = async (queries: Queries): Promise<string | undefined> =>
  (await queries.get<{ seed: string }>(sql`SELECT seed FROM backup_keys ORDER BY seed LIMIT 1`))?.seed

function keyOf(seed: string): ManifestKey {
  const der = Buffer.concat([PRIVATE, Buffer.from(seed, 'base64')])
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const name = String(createPublicKey(key).export({ format: 'jwk' }).x)
  return {
    name,
    sign: generation => {
      const value = sign(undefined, textOf(generation), key).toString('base64')
      return { ...generation, signature: { key: name, value } }
    },
  }
}

const textOf = (generation: Generation): Buffer => Buffer.from(JSON.stringify({ ...generation, signature: undefined }))

/** Who signed a manifest: `own` this key, `other` another key, `none` nobody; `wrong`: it was changed after it was signed. */
export type Origin = 'own' | 'other' | 'none' | 'wrong'

export function originOf(generation: Generation, own: string | undefined): Origin {
  const { signature } = generation
  if (signature === undefined) return 'none'
  if (!isSigned(generation, signature)) return 'wrong'
  return signature.key === own ? 'own' : 'other'
}

/**
 * Whether somebody else has written the manifest, or parts of it, as far as it shows: it was changed after it was signed, or is not signed
 * although others in the same place are.
 */
export function isSuspect(generation: Generation, all: readonly ListedGeneration[]): boolean {
  const origin = originOf(generation, undefined)
  return origin === 'wrong' || (origin === 'none' && all.some(other => isSignedByAnyone(other.generation)))
}

const isSignedByAnyone = (generation: Generation): boolean => originOf(generation, undefined) === 'other'

function isSigned(generation: Generation, { key, value }: ManifestSignature): boolean {
  try {
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key }, format: 'jwk' })
    return verify(undefined, textOf(generation), publicKey, Buffer.from(value, 'base64'))
  } catch {
    // No key, or no text.
    return false
  }
}

/** Why it is doubtful that this service wrote a manifest, for people; `undefined` if the signature shows that it did. */
export function doubtAbout(
  { pathOf }: Pick<BackupTarget, 'pathOf'>,
  { key, generation }: ListedGeneration,
  own: string | undefined,
): string | undefined {
  const { created, signature } = generation
  const backup = `The manifest of the backup of ${created} (${pathOf('generations', key)})`
  switch (originOf(generation, own)) {
    case 'own':
      return undefined
    case 'wrong':
      return `${backup} was changed after it was signed.`
    case 'none':
      return `${backup} is not signed, so it cannot be verified that the service wrote it.`
    case 'other':
      return `${backup} is signed with the key ${signature?.key}, which this store does not have. Compare it with the key that \`doctor\` of the service printed.`
  }
}
