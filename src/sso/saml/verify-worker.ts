import { isMainThread } from 'node:worker_threads'
import type { Milliseconds } from '../../base/units.ts'
import { serveTasks } from '../../workers/serve-tasks.ts'
import { type FailedCheck, SsoRefused } from '../refusal.ts'
import { XmlRefused } from '../xml.ts'
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

/** A message of a provider. */
export type MessageTask =
  | { readonly kind: 'response'; readonly encoded: string; readonly expected: ExpectedResponse }
  | { readonly kind: 'logout'; readonly received: ReceivedLogout; readonly expected: ExpectedLogout }
  | { readonly kind: 'logout-issuer'; readonly received: ReceivedLogout }

interface MetadataTask {
  readonly kind: 'metadata'
  readonly text: string
  readonly now: Milliseconds
  /** PEM; one of them must have signed the document. Empty: it need not be signed. */
  readonly keys: readonly string[]
}

export type Task = MessageTask | MetadataTask

/** Errors lose their class on the way between threads, so refusals travel as values. */
export type Outcome =
  | { readonly assertion: VerifiedAssertion }
  | { readonly logout: VerifiedLogout }
  | { readonly issuer: string }
  | { readonly failed: FailedCheck }
  | { readonly metadata: IdpMetadata }
  | { readonly refused: string; readonly check: MetadataRefused['check'] }

/** The work of a worker thread: it takes milliseconds that the event loop does not have. */
export async function work(task: Task): Promise<Outcome> {
  switch (task.kind) {
    case 'response':
      return await verify(task)
    case 'logout':
      return await checkLogout(task)
    case 'logout-issuer':
      return await orFailed(async () => ({ issuer: statedIssuer(task.received) }))
    case 'metadata':
      return readMetadata(task)
  }
}

type Checked<T> = Promise<T | { readonly failed: FailedCheck }>

export const verify = (task: {
  readonly encoded: string
  readonly expected: ExpectedResponse
}): Checked<{ readonly assertion: VerifiedAssertion }> =>
  orFailed(async () => ({ assertion: await verifyResponse(task.encoded, task.expected) }))

export const checkLogout = (task: {
  readonly received: ReceivedLogout
  readonly expected: ExpectedLogout
}): Checked<{ readonly logout: VerifiedLogout }> =>
  orFailed(async () => ({ logout: verifyLogout(task.received, task.expected) }))

async function orFailed<T>(check: () => Promise<T>): Checked<T> {
  try {
    return await check()
  } catch (error) {
    if (error instanceof SsoRefused) return { failed: error.failed }
    if (error instanceof XmlRefused) return { failed: { check: `xml-${error.reason}`, received: error.message } }
    throw error
  }
}

function readMetadata({ text, now, keys }: MetadataTask): Outcome {
  try {
    return { metadata: keys.length > 0 ? parseSignedMetadata(text, keys, now) : parseMetadata(text, now) }
  } catch (error) {
    if (error instanceof MetadataRefused) return { refused: error.message, check: error.check }
    if (error instanceof XmlRefused) return { refused: error.message, check: 'metadata' }
    throw error
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
