import type { CheckResult } from '../../core/check-result.ts'
import { feature, offer } from '../../core/feature.ts'
import { diagnosticRoutes } from './routes.ts'

export const diagnostics = feature({
  name: 'diagnostics',
  commands: { doctor: async program => (await import('./command.ts')).doctorCommand(program) },
  routes: diagnosticRoutes,
  open: ({ examination }) => {
    let running: Promise<readonly CheckResult[]> | undefined
    // An examination opens connections and files, so callers that ask during an examination share it.
    const runChecks = async () => await (running ??= examination.runChecks().finally(() => (running = undefined)))
    return { offers: offer({ settings: examination.settings, runChecks }, diagnosticRoutes) }
  },
})
