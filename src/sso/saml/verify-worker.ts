import type { Milliseconds } from '../../base/units.ts'
import { type FailedCheck, SsoRefused } from '../refusal.ts'
import { XmlRefused } from '../xml.ts'
import { type IdpMetadata, MetadataRefused, parseMetadata } from './metadata.ts'
import { type ExpectedResponse, verifyResponse, type VerifiedAssertion } from './response.ts'

export type Task =
  | { readonly kind: 'response'; readonly encoded: string; readonly expected: ExpectedResponse }
  | { readonly kind: 'metadata'; readonly text: string; readonly now: Milliseconds }

/** Errors lose their class on the way between threads, so refusals travel as values. */
export type Outcome =
  | { readonly assertion: VerifiedAssertion }
  | { readonly failed: FailedCheck }
  | { readonly metadata: IdpMetadata }
  | { readonly refused: string }

/** The work of a worker thread: it takes milliseconds that the event loop does not have. */
export default async function work(task: Task): Promise<Outcome> {
  return task.kind === 'response' ? await verify(task) : readMetadata(task)
}

export async function verify({
  encoded,
  expected,
}: {
  readonly encoded: string
  readonly expected: ExpectedResponse
}): Promise<{ readonly assertion: VerifiedAssertion } | { readonly failed: FailedCheck }> {
  try {
    return { assertion: await verifyResponse(encoded, expected) }
  } catch (error) {
    if (error instanceof SsoRefused) return { failed: error.failed }
    if (error instanceof XmlRefused) return { failed: { check: `xml-${error.reason}`, received: error.message } }
    throw error
  }
}

function readMetadata({ text, now }: Extract<Task, { kind: 'metadata' }>): Outcome {
  try {
    return { metadata: parseMetadata(text, now) }
  } catch (error) {
    if (error instanceof MetadataRefused || error instanceof XmlRefused) return { refused: error.message }
    throw error
  }
}
