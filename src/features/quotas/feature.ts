import { feature, offer } from '../../core/feature.ts'
import { UNLIMITED } from '../../base/units.ts'
import { contextQuotaRoutes } from './context-routes.ts'
import { ContextQuotas } from './context-quotas.ts'
import { quotaEvents } from './events.ts'
import { createQuotaMails } from './mail-texts.ts'
import { Quotas } from './quotas.ts'
import { quotaRoutes } from './routes.ts'
import { quotaSettings } from './settings.ts'
import { recordThreshold } from './threshold-events.ts'

export const quotas = feature({
  name: 'quotas',
  settings: quotaSettings,
  contradictions: [
    {
      keys: ['service.data.quota', 'service.data.quota.default'],
      warning: 'quota-unused',
      wrong: settings => !settings['service.data.quota'] && settings['service.data.quota.default'] !== UNLIMITED,
      message: 'a default quota is set, but quota is off',
    },
  ],
  events: quotaEvents,
  commands: {
    context: async program => (await import('./context-command.ts')).contextCommand(program),
    quota: async program => (await import('./quota-command.ts')).quotaCommand(program),
    usage: async program => (await import('./usage-command.ts')).usageCommand(program),
  },
  openForCommand: ({ audit, files }) => {
    files.options.onThreshold = reached => recordThreshold(audit, reached)
  },
  routes: [...contextQuotaRoutes, ...quotaRoutes],
  open: core => {
    const { audit, contextQuota, files, ledger } = core
    const contextQuotas = new ContextQuotas(core)
    if (ledger.enforced) contextQuota.filled = contextQuotas
    const mails = createQuotaMails(core)
    files.options.onThreshold = async reached => {
      mails?.add(reached)
      await recordThreshold(audit, reached)
    }
    const services = { quotas: new Quotas(core), contextQuotas, ledger }
    return { offers: [...offer(services, contextQuotaRoutes), ...offer(services, quotaRoutes)] }
  },
})
