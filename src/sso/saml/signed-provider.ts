import { createPublicKey } from 'node:crypto'
import type { Milliseconds } from '../../base/units.ts'
import type { FederationEntity } from './federation-entity.ts'
import { type IdpMetadata, MetadataRefused } from './metadata.ts'
import { SignedMetadataReader } from './signed-metadata.ts'

/**
 * Reads the metadata of one identity provider, also out of an aggregate if it is the only one in it. The document must be signed as a
 * whole. @param keys PEM, one of which must have signed it. @throws {MetadataRefused}
 */
export function parseSignedMetadata(text: string, keys: readonly string[], now: Milliseconds): IdpMetadata {
  const found: FederationEntity[] = []
  const options = { keys: keys.map(key => createPublicKey(key)), now, requiresEnd: false }
  const reader = new SignedMetadataReader(options, entity => found.push(entity))
  reader.write(Buffer.from(text))
  const { validUntil: end, reasons } = reader.end()
  const [entity, ...more] = found
  if (!entity) throw new MetadataRefused(reasons[0] ?? 'no identity provider of SAML 2.0 is in it')
  if (more.length > 0) throw new MetadataRefused(`${found.length} identity providers are in it; one is needed`)
  const validUntil = Math.min(entity.idp.validUntil ?? Infinity, end)
  return { ...entity.idp, validUntil: validUntil === Infinity ? undefined : validUntil }
}
