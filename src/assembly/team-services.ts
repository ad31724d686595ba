import type { Argon2Cost } from '../accounts/hash-thread.ts'
import { type Hasher, HashThreads } from '../accounts/password-schemes.ts'
import type { MailQueue } from '../accounts/mail-queue.ts'
import type { Limiter, QueueShare } from '../base/limiter.ts'
import type { Metadata, MetadataStatus, ProviderMetadata } from '../sso/metadata-source.ts'
import { type FailedCheck, SsoRefused } from '../sso/refusal.ts'
import type { DirectoryQuestion, Federation, FederationEntity, MessageChecks } from '../sso/saml/provider.ts'
import type { Mail, Mailer } from '../stores/mailer.ts'
import type { ThreadTeam } from '../threads/team.ts'
import { Moved } from '../threads/thread-channel.ts'
import type { FairLimiter } from '../workers/fair-limiter.ts'
import { TaskLimitExceeded, type TaskPool } from '../workers/worker-pool.ts'

/** Services that several serving threads have once: the first does the work, and the others call it. */

/** Hashes for all threads, so that the limit on hashes at once is one for the whole process. */
export function shareHashing(team: ThreadTeam, limiter: Limiter): Hasher {
  const threads = new HashThreads(limiter.concurrency)
  team.answer('hash', ([password, cost]: [string, Argon2Cost]) => limiter.run(() => threads.hash(password, cost)))
  team.answer('verify', ([password, stored, share]: [string, string, QueueShare | undefined]) =>
    limiter.run(() => threads.verify(password, stored), share),
  )
  return threads
}

/** Has the first thread hash. It rejects with {@link Overloaded} when too many wait there. */
export const sharedHashing = (team: ThreadTeam): Hasher => ({
  hash: (password, cost) => team.callFirst('hash', [password, cost]),
  verify: (password, stored, share) => team.callFirst('verify', [password, stored, share]),
  close: async () => {},
})

type TaskOutcome<Result> = { readonly result: Result } | { readonly exceeded: string }

/**
 * One limiter for all serving threads: the first one has the permits and the queue, so the limits and the turns are those of the process.
 * Work runs on the thread that has asked. If a thread ends, so does the process (D16.7): no permit has to be taken back.
 */
export function shareLimiter(team: ThreadTeam | undefined, name: string, open: () => Limiter): Pick<Limiter, 'run'> {
  if (team?.isFirst === false) return { run: (work, share) => runWithPermit(team, name, work, { share }) }
  const limiter = open()
  if (team) grantPermits(team, name, limiter)
  return limiter
}

/** As {@link shareLimiter}, with a limit for each caller; one that leaves gives up the place in the queue of the first thread. */
export function shareFairLimiter(
  team: ThreadTeam | undefined,
  name: string,
  open: () => FairLimiter,
): Pick<FairLimiter, 'run'> {
  if (team?.isFirst === false) {
    return { run: (share, work, signal) => runWithPermit(team, name, work, { share, signal }) }
  }
  const limiter = open()
  if (team) grantPermits(team, name, limiter)
  return limiter
}

/** @param limiter whose permits the other threads get */
function grantPermits<Share>(
  team: ThreadTeam,
  name: string,
  limiter: { acquire(share: Share, signal: AbortSignal): Promise<void>; release(share: Share): void },
): void {
  team.answer(`permit for ${name}`, (share: Share, signal: AbortSignal) => limiter.acquire(share, signal))
  team.answer(`end of ${name}`, (share: Share) => limiter.release(share))
}

/** Runs work of this thread while it has a permit of the first one. */
async function runWithPermit<T>(
  team: ThreadTeam,
  name: string,
  work: () => Promise<T>,
  { share, signal }: { readonly share: unknown; readonly signal?: AbortSignal | undefined },
): Promise<T> {
  try {
    // The permit may be on its way when the caller leaves. Then it counts, and `work` ends at once because it watches the signal.
    await team.callFirst(`permit for ${name}`, share, { signal, keepsAnswer: true })
  } catch (error) {
    // An abort of the queue there arrives as an error without its reason.
    signal?.throwIfAborted()
    throw error
  }
  try {
    return await work()
  } finally {
    await team.callFirst(`end of ${name}`, share)
  }
}

/**
 * One pool of worker threads for all serving threads: each worker needs memory for the program, and a caller's fair share counts for the
 * whole process. The first thread has the pool, and the others send it their tasks.
 * @param memoryOf the bytes of a task, or of a result, that are moved between threads instead of copied
 */
export function sharePool<Task, Result>(
  team: ThreadTeam | undefined,
  name: string,
  open: () => TaskPool<Task, Result>,
  memoryOf: {
    readonly task?: (task: Task) => readonly ArrayBuffer[]
    readonly result?: (result: Result) => readonly ArrayBuffer[]
  },
): TaskPool<Task, Result> {
  if (team?.isFirst !== false) {
    const pool = open()
    team?.answer(name, async ([task, caller]: [Task, string], signal: AbortSignal) => {
      try {
        const result = await pool.run(task, caller, signal)
        return new Moved({ result }, memoryOf.result?.(result) ?? [])
      } catch (error) {
        // It would arrive as a plain error.
        if (error instanceof TaskLimitExceeded) return { exceeded: error.message }
        throw error
      }
    })
    return pool
  }
  return {
    run: async (task, caller, signal) => {
      const moved = memoryOf.task?.(task) ?? []
      const outcome = await team.callFirst<TaskOutcome<Result>>(name, [task, caller], { signal, moved })
      if ('exceeded' in outcome) throw new TaskLimitExceeded(outcome.exceeded)
      return outcome.result
    },
    close: async () => {},
  }
}

/** Checks SAML messages: the first thread has the threads for it, and one limit on all messages that wait. */
export function shareMessageChecks(
  team: ThreadTeam | undefined,
  open: () => MessageChecks,
): Pick<MessageChecks, 'run' | 'close'> {
  const name = 'check a SAML message'
  if (team?.isFirst === false) return { run: (...asked) => team.callFirst(name, asked), close: async () => {} }
  const checks = open()
  team?.answer(name, (asked: Parameters<MessageChecks['run']>) => checks.run(...asked))
  return checks
}

/** Sends what the other threads hand over. */
export function shareMails(team: ThreadTeam, mails: MailQueue): void {
  team.answer('mail', (mail: Mail) => mails.add(async () => mail))
}

/** Hands mails to the queue of the first thread, which tries again where that is needed. */
export const sharedMailer = (team: ThreadTeam): Mailer => ({
  send: mail => team.callFirst('mail', mail),
  close: async () => {},
})

/** How the first thread answers: a refused sign-on would arrive as a plain error otherwise. */
type Refusable<T> = { readonly result: T } | { readonly refused: FailedCheck }

/** Runs work of the first thread so that a refused sign-on reaches the other threads as one. */
async function refusable<T>(work: () => Promise<T>): Promise<Refusable<T>> {
  try {
    return { result: await work() }
  } catch (error) {
    if (error instanceof SsoRefused) return { refused: error.failed }
    throw error
  }
}

/** Calls the first thread, which answers with what {@link refusable} returns. @throws {SsoRefused} */
async function callRefusable<T>(team: ThreadTeam, name: string, argument?: unknown): Promise<T> {
  const outcome = await team.callFirst<Refusable<T>>(name, argument)
  if ('refused' in outcome) throw new SsoRefused(outcome.refused)
  return outcome.result
}

/**
 * The federation with this name: the first thread loads it, searches it and asks for metadata, with one limit on all of it.
 * @param source of the first thread
 */
export function shareFederation(team: ThreadTeam, name: string, source?: Federation): Federation {
  const [find, findStored, reload, search, status] = [
    `find in ${name}`,
    `find stored in ${name}`,
    `reload in ${name}`,
    `search in ${name}`,
    `status in ${name}`,
  ]
  if (source) {
    team.answer(find, (entityId: string) => refusable(() => source.find(entityId)))
    team.answer(findStored, (entityId: string) => refusable(() => source.findStored(entityId)))
    team.answer(reload, (entityId: string) => source.reloadForUnknownKey(entityId))
    team.answer(search, (question: DirectoryQuestion) => source.search(question))
    team.answer(status, () => source.status())
    return source
  }
  return {
    find: entityId => callRefusable<FederationEntity>(team, find, entityId),
    findStored: entityId => callRefusable<FederationEntity>(team, findStored, entityId),
    reloadForUnknownKey: entityId => team.callFirst(reload, entityId),
    search: question => team.callFirst(search, question),
    status: () => team.callFirst(status),
    // The first thread does both.
    refresh: async () => {},
    close: async () => {},
  }
}

/** The metadata of the provider with this name: the first thread loads them, with one pause and one state for all threads. */
export function shareMetadata<Known extends ProviderMetadata>(
  team: ThreadTeam | undefined,
  name: string,
  source: Metadata<Known>,
): Metadata<Known> {
  if (!team) return source
  const [current, reload, status] = [`current metadata of ${name}`, `reload of ${name}`, `state of ${name}`]
  if (team.isFirst) {
    team.answer(current, () => refusable(() => source.current()))
    team.answer(reload, () => source.reloadForUnknownKey())
    team.answer(status, () => source.status())
    return source
  }
  return {
    current: () => callRefusable<Known>(team, current),
    reloadForUnknownKey: () => team.callFirst<boolean>(reload),
    status: () => team.callFirst<MetadataStatus<Known>>(status),
    // The first thread warns.
    warnOfExpiry: () => {},
  }
}
