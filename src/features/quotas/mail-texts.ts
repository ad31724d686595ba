import type { BaseAddress } from '../../http/base-address.ts'
import type { MailQueue } from '../../mails/mail-queue.ts'
import type { Database } from '../../stores/database.ts'
import type { MailTexts } from '../../mails/link-mail.ts'
import { type FilledQuota, QuotaMails } from './quota-mails.ts'
import { type UiAssets, wordsFor } from '../../http/page.ts'

interface Dependencies {
  readonly database: Database
  /** Absent without a mail server. */
  readonly mails: MailQueue | undefined
  readonly ui: UiAssets
  readonly address: { readonly base: BaseAddress }
}

/** `undefined` without a mail server. */
export const createQuotaMails = ({ database, mails, ui, address }: Dependencies): QuotaMails | undefined =>
  mails &&
  new QuotaMails({
    database,
    mails,
    address: () => address.base.href,
    textsFor: (filled, language) => quotaMailTexts(ui, filled, language),
  })

/** The texts of a mail about a quota, in the language of its recipient. */
function quotaMailTexts(ui: UiAssets, { kind, name, percent }: FilledQuota, own: string | undefined): MailTexts {
  const { language, words } = wordsFor(ui, [own])
  const fill = (text: string): string => text.replace('{name}', () => name).replace('{percent}', String(percent))
  return {
    language,
    subject: fill(words['mail.quota.subject']),
    why: fill(words[`mail.quota.${kind}`]),
    how: words['mail.quota.how'],
    button: words['mail.quota.button'],
    otherwise: words['mail.quota.otherwise'],
  }
}
