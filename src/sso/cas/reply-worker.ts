import { serveTasks } from '../../workers/serve-tasks.ts'
import { type FailedCheck, SsoRefused } from '../refusal.ts'
import type { CasUser } from './cas-user.ts'
import type { Expected } from './expected.ts'
import { type CasVersion, verifyReply } from './reply.ts'

export interface ReplyTask {
  readonly version: CasVersion
  readonly text: string
  readonly expected: Expected
}

/** Errors lose their class on the way between threads, so refusals travel as values. */
export type ReplyOutcome = { readonly user: CasUser } | { readonly failed: FailedCheck }

serveTasks(work)

/** The work of a worker thread: parses a large reply. */
function work({ version, text, expected }: ReplyTask): ReplyOutcome {
  try {
    return { user: verifyReply(version, text, expected) }
  } catch (error) {
    if (error instanceof SsoRefused) return { failed: error.failed }
    throw error
  }
}
