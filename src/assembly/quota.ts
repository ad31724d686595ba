import type { ServiceAddress } from '../http/base-address.ts'
import type { MailQueue } from '../accounts/mail-queue.ts'
import type { Database } from '../stores/database.ts'
import type { MailTexts } from '../accounts/password-reset.ts'
import { type FilledQuota, QuotaMails } from '../content/quota-mails.ts'
import { type UiAssets, wordsFor } from '../http/page.ts'
import type { Settings } from '../config/settings.ts'
import type { ReachedThreshold } from '../files/files.ts'
import type { QuotaOptions } from '../files/quota-usage.ts'
import { UNLIMITED } from '../base/units.ts'

export const quotaOptions = (settings: Settings): QuotaOptions => ({
  enforced: settings['service.data.quota'],
  defaults: {
    context: settings['service.data.quota.default'],
    user: settings['service.data.quota.user-default'],
    providerUser: settings['service.data.quota.provider-user-default'] ?? settings['service.data.quota.user-default'],
  },
})

/** `undefined` without a mail server. */
export const createQuotaMails = (
  mails: MailQueue | undefined,
  { database, ui, address }: { readonly database: Database; readonly ui: UiAssets; readonly address: ServiceAddress },
): QuotaMails | undefined =>
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

/** What the audit log says of a threshold that was reached. */
export const thresholdDetail = ({ percent, usage: { owner, limit, used } }: ReachedThreshold) => ({
  [owner.kind]: owner.id,
  percent,
  quota: limit.bytes,
  fillLevel: used.bytes,
  ...(limit.files === UNLIMITED ? {} : { maxFiles: limit.files, files: used.files }),
})
