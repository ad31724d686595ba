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

/** What the audit log says of a threshold that was reached. */
export const thresholdDetail = ({ percent, usage: { owner, limit, used } }: ReachedThreshold) => ({
  [owner.kind]: owner.id,
  percent,
  quota: limit.bytes,
  fillLevel: used.bytes,
  ...(limit.files === UNLIMITED ? {} : { maxFiles: limit.files, files: used.files }),
})
