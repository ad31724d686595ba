import { type AuditEvent, type AuditFilter, loadEvents } from './audit.ts'

/** A mail to a user that has not been sent. */
export interface MailFailure {
  readonly userId: string | undefined
  readonly userName: string | undefined
  readonly time: Date
  /** In English, from the mail server. */
  readonly why: string
  /** Whether the service tries again. */
  readonly isTriedAgain: boolean
}

/** Older failures need nobody's attention any more, in milliseconds. */
const MAX_AGE = 7 * 86_400_000
const MAX_EVENTS = 100

/** The last mail that failed for each user, unless one has been sent since; the latest first. @throws {Problem} */
export async function loadMailFailures(
  filter: Pick<AuditFilter, 'userId'>,
  signal: AbortSignal,
): Promise<readonly MailFailure[]> {
  const since = new Date(Date.now() - MAX_AGE).toISOString()
  const load = (event: string): Promise<readonly AuditEvent[]> =>
    loadEvents({ ...filter, event, since }, { offset: 0, limit: MAX_EVENTS }, signal)
  // A new password shows that the link has arrived by another mail.
  const [failed, sent, reset] = await Promise.all([load('mail-failed'), load('mail-sent'), load('password-reset')])
  const good = [...sent, ...reset]
  const latest = new Map<string, AuditEvent>()
  for (const event of failed) if (!latest.has(keyOf(event))) latest.set(keyOf(event), event)
  return [...latest.values()]
    .filter(event => !good.some(other => keyOf(other) === keyOf(event) && other.time >= event.time))
    .map(({ userId, userName, time, detail }) => ({
      userId,
      userName,
      time: new Date(time),
      why: String(detail['why'] ?? ''),
      isTriedAgain: detail['again'] === 'yes',
    }))
}

const keyOf = ({ userId = '' }: AuditEvent): string => userId
