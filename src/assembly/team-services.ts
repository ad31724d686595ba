import type { Argon2Cost } from '../accounts/hash-thread.ts'
import { type Hasher, HashThreads } from '../accounts/password-schemes.ts'
import type { MailQueue } from '../accounts/mail-queue.ts'
import type { Limiter, Turn } from '../base/concurrency.ts'
import type { Metadata, MetadataStatus, ProviderMetadata } from '../sso/metadata-source.ts'
import { type FailedCheck, SsoRefused } from '../sso/refusal.ts'
import type { Mail, Mailer } from '../stores/mailer.ts'
import type { ThreadTeam } from '../threads/team.ts'

/** Services that several serving threads have once: the first does the work, and the others call it. */

/** Hashes for all threads, so that the limit on hashes at once is one for the whole process. */
export function shareHashing(team: ThreadTeam, limiter: Limiter): Hasher {
  const threads = new HashThreads(limiter.concurrency)
  team.answer('hash', ([password, cost]: [string, Argon2Cost]) => limiter.run(() => threads.hash(password, cost)))
  team.answer('verify', ([password, stored, turn]: [string, string, Turn | undefined]) =>
    limiter.run(() => threads.verify(password, stored), turn),
  )
  return threads
}

/** Has the first thread hash. It rejects with {@link Overloaded} when too many wait there. */
export const sharedHashing = (team: ThreadTeam): Hasher => ({
  hash: (password, cost) => team.callFirst('hash', [password, cost]),
  verify: (password, stored, turn) => team.callFirst('verify', [password, stored, turn]),
  close: async () => {},
})

/** Sends what the other threads hand over. */
export function shareMails(team: ThreadTeam, mails: MailQueue): void {
  team.answer('mail', (mail: Mail) => mails.add(async () => mail))
}

/** Hands mails to the queue of the first thread, which tries again where that is needed. */
export const sharedMailer = (team: ThreadTeam): Mailer => ({
  send: mail => team.callFirst('mail', mail),
  close: async () => {},
})

/** How the first thread answers for `current`: a refusal would arrive as a plain error otherwise. */
type Current<Known> = { readonly metadata: Known } | { readonly refused: FailedCheck }

/** The metadata of the provider with this name: the first thread loads them, with one pause and one state for all threads. */
export function shareMetadata<Known extends ProviderMetadata>(
  team: ThreadTeam | undefined,
  name: string,
  source: Metadata<Known>,
): Metadata<Known> {
  if (!team) return source
  const [current, reload, status] = [`current metadata of ${name}`, `reload of ${name}`, `state of ${name}`]
  if (team.isFirst) {
    team.answer(current, async (): Promise<Current<Known>> => {
      try {
        return { metadata: await source.current() }
      } catch (error) {
        if (error instanceof SsoRefused) return { refused: error.failed }
        throw error
      }
    })
    team.answer(reload, () => source.reloadForUnknownKey())
    team.answer(status, () => source.status())
    return source
  }
  return {
    current: async () => {
      const answer = await team.callFirst<Current<Known>>(current)
      if ('refused' in answer) throw new SsoRefused(answer.refused)
      return answer.metadata
    },
    reloadForUnknownKey: () => team.callFirst<boolean>(reload),
    status: () => team.callFirst<MetadataStatus<Known>>(status),
    // The first thread warns.
    warnOfExpiry: () => {},
  }
}
