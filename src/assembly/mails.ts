import type { Audit } from '../accounts/audit.ts'
import { findUserByName, normaliseName } from '../accounts/users.ts'
import type { Log } from '../base/log.ts'
import type { Settings } from '../config/settings.ts'
import type { Reload } from '../core/reload.ts'
import { MailQueue, type MailOutcome } from '../mails/mail-queue.ts'
import { type Mail, type Mailer, openSmtpMailer } from '../mails/smtp-mailer.ts'
import type { Database } from '../stores/database.ts'

/** Part of `assembly/server.ts`: the queue of mails, which is absent without a mail server. */
export async function createMails(
  settings: Settings,
  log: Log,
  { audit, database }: { readonly audit: Audit; readonly database: Database },
) {
  let mailer = await createMailer(settings)
  const replaceable = mailer && {
    send: async (mail: Mail) => await mailer?.send(mail),
    close: async () => await mailer?.close(),
  }
  /** Puts another password of the mail server in force. */
  const reload: Reload = async ({ next }) => {
    const nextMailer = mailer && (await createMailer(next))
    return { apply: () => void (mailer = nextMailer) }
  }
  /** Mails go to users whose names are their addresses. */
  const report = async ({ to, failure }: MailOutcome): Promise<void> => {
    const user = await findUserByName(database, normaliseName(to))
    const subject = { userId: user?.id, userName: user?.name, isByService: true } as const
    const detail = failure && { why: failure.why, again: failure.isFinal ? 'no' : 'yes' }
    await audit.record({ event: detail ? 'mail-failed' : 'mail-sent', ...subject, ...(detail ? { detail } : {}) })
  }
  const onOutcome = (outcome: MailOutcome): void =>
    void report(outcome).catch((err: unknown) => log.error({ err }, 'the failure of a mail was not recorded'))
  return { queue: replaceable && new MailQueue(replaceable, log, undefined, onOutcome), reload }
}

/** `undefined` without a mail server. */
async function createMailer(settings: Settings): Promise<Mailer | undefined> {
  const host = settings['service.smtp.host']
  const from = settings['service.smtp.from']
  if (host === undefined || from === undefined) return undefined
  return await openSmtpMailer({
    host,
    from,
    port: settings['service.smtp.port'],
    security: settings['service.smtp.security'],
    username: settings['service.smtp.username'],
    password: settings['service.smtp.password'],
  })
}
