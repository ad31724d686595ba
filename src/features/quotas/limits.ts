import type { Settings, SettingsOf } from '../../config/settings.ts'
import type { QuotaOptions } from '../../files/quota-usage.ts'
import type { quotaSettings } from './settings.ts'

/** The limits of the ledger, wherever one is made: in the service, its reader threads and commands. */
export function quotaOptions(settings: Settings): QuotaOptions {
  const own = settings as Settings & SettingsOf<(typeof quotaSettings)['rows']>
  const user = own['service.data.quota.user-default']
  return {
    enforced: own['service.data.quota'],
    defaults: {
      context: own['service.data.quota.default'],
      user,
      providerUser: own['service.data.quota.provider-user-default'] ?? user,
    },
  }
}
