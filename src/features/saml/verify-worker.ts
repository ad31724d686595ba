import { isMainThread } from 'node:worker_threads'
import type { Milliseconds } from '../../base/units.ts'
import { serveTasks } from '../../workers/serve-tasks.ts'
import { type FailedCheck, SsoRefused } from '../sso/refusal.ts'
import { XmlRefused } from '../sso/xml.ts'
import { type IdpMetadata, MetadataRefused, parseMetadata } from './metadata.ts'
import {
  type ExpectedLogout,
  type ReceivedLogout,
  statedIssuer,
  type VerifiedLogout,
  verifyLogout,
} from './logout-message.ts'
import { type ExpectedResponse, verifyResponse, type VerifiedAssertion } from './response.ts'
import { createPublicKey } from 'node:crypto'
import type { FederationEntity } from './federation-entity.ts'
import { SignedMetadataReader } from './signed-metadata.ts'

if (!isMainThread) serveTasks(work)

export type Task =
  | { readonly kind: 'response'; readonly encoded: string; readonly expected: ExpectedResponse }
  | { readonly kind: 'logout'; readonly received: ReceivedLogout; readonly expected: ExpectedLogout }
  | { readonly kind: 'logout-issuer'; readonly received: ReceivedLogout }
  /** The keys are PEM; one of them must have signed the document. Empty: it need not be signed. */
  | { readonly kind: 'metadata'; readonly text: string; readonly now: Milliseconds; readonly keys: readonly string[] }

/** Errors lose their class on the way between threads, so refusals travel as values. */
export type Outcome =
  | { readonly result: VerifiedAssertion | VerifiedLogout | IdpMetadata | string }
  | { readonly failed: FailedCheck }
  | { readonly refused: string; readonly check: MetadataRefused['check'] }

/** The work of a worker thread: it takes milliseconds that the event loop does not have. */
export async function work(task: Task): Promise<Outcome> {
  try {
    return { result: await resultOf(task) }
  } catch (error) {
    if (error instanceof SsoRefused) return { failed: error.failed }
    if (error instanceof MetadataRefused) return { refused: error.message, check: error.check }
    if (!(error instanceof XmlRefused)) throw error
    if (task.kind === 'metadata') return { refused: error.message, check: 'metadata' }
    return { failed: { check: `xml-${error.reason}`, received: error.message } }
  }
}

async function resultOf(task: Task): Promise<VerifiedAssertion | VerifiedLogout | IdpMetadata | string> {
  switch (task.kind) {
    case 'response':
      return await verifyResponse(task.encoded, task.expected)
    case 'logout':
      return verifyLogout(task.received, task.expected)
    case 'logout-issuer':
      return statedIssuer(task.received)
    case 'metadata':
      return task.keys.length > 0
        ? parseSignedMetadata(task.text, task.keys, task.now)
        : parseMetadata(task.text, task.now)
  }
}

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
