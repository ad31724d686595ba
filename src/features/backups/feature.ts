import { isoTime } from '../../base/times.ts'
import { feature, offer } from '../../core/feature.ts'
import { type BackupRuns, backupSteps } from './backup-runs.ts'
import { backupContradictions } from './contradictions.ts'
import { backupMetrics } from './metrics.ts'
import { BackupOverview } from './overview.ts'
import { backupRoutes } from './routes.ts'
import { backupSettings } from './settings.ts'

export const backups = feature({
  name: 'backups',
  settings: backupSettings,
  schemaSteps: backupSteps,
  commands: {
    backup: async program => (await import('./command.ts')).backupCommand(program),
    restore: async program => (await import('./restore-command.ts')).restoreCommand(program),
  },
  contradictions: backupContradictions,
  routes: backupRoutes,
  requireUsable: async ({ settings }) => {
    await (await import('./cipher.ts')).encryptionTo(settings['service.backup.encrypt-to.<n>'])
    await (await import('./backup-target.ts')).requireNoFile(settings['service.backup.target'])
  },
  lostStore: {
    advice: ({ 'service.backup.target': target }) =>
      target === undefined
        ? ''
        : ` If it was lost, mount its disk, or restore a backup from ${target} (docs/how-to/backup-and-upgrade.md).`,
    whatToRestore: async settings => (await (await import('./last-good.ts')).findLastGood(settings))?.text,
    warnOfNewStore: async (...given) => await (await import('./new-store-warning.ts')).warnOfNewStore(...given),
  },
  checks: async ({ settings }) => await (await import('./checks.ts')).checkBackups(settings),
  open: async core => {
    const { createBackups } = await import('./scheduled-backups.ts')
    const backups = await createBackups(core)
    const { settings, system } = core
    const scheduled = backups && { ...backups, settings, schedule: backups.expression }
    const offers = offer({ backupOverview: new BackupOverview(scheduled, system) }, backupRoutes)
    if (!backups) return { offers }
    const { schedule, runs } = backups
    return {
      offers,
      metrics: backupMetrics(runs, core.system, { proves: core.settings['service.backup.prove'] }),
      status: async () => ({ backup: await describe(runs) }),
      begin: () => void schedule.run(),
      close: () => schedule.close(),
    }
  },
})

/** The last scheduled backup, its proof, and what went wrong at the last attempts. */
async function describe(runs: BackupRuns) {
  const { ended, made, checked, proven } = await runs.report()
  return {
    made: made && { time: isoTime(made.started), bytes: made.bytes },
    problem: ended?.problem ?? checked?.proof_problem ?? undefined,
    proven: proven && {
      time: isoTime(proven.proven ?? 0),
      of: isoTime(proven.started),
      restoreSeconds: proven.restored_in === null ? undefined : proven.restored_in / 1000,
      newestChange: proven.newest_change === null ? undefined : isoTime(proven.newest_change),
      note: proven.proof_note ?? undefined,
    },
  }
}
