import type { System } from '../../base/system.ts'
import type { Metric } from '../../http/metrics.ts'
import type { BackupRuns } from './backup-runs.ts'

/** The last scheduled backup, and the last proof of one, as metrics. */
export const backupMetrics = (
  runs: Pick<BackupRuns, 'report'>,
  system: Pick<System, 'now'>,
  { proves }: { readonly proves: boolean },
): readonly Metric[] => [...ofBackups(runs, system), ...(proves ? ofProofs(runs, system) : [])]

const ofProofs = (runs: Pick<BackupRuns, 'report'>, system: Pick<System, 'now'>): readonly Metric[] => [
  {
    kind: 'gauge',
    name: 'backup_proven_timestamp_seconds',
    help: 'When the last proof that found nothing wrong ended; 0 when there is none.',
    read: async () => ((await runs.report()).proven?.proven ?? 0) / 1000,
  },
  {
    kind: 'gauge',
    name: 'backup_restore_duration_seconds',
    help: 'How long the restore of that proof took, without its rests; 0 when the backup was only read.',
    read: async () => ((await runs.report()).proven?.restored_in ?? 0) / 1000,
  },
  {
    kind: 'gauge',
    name: 'backup_loss_seconds',
    help: 'What a restore of the proven backup loses: seconds since its snapshot; +Inf when none is proven.',
    read: async () => {
      const { proven } = await runs.report()
      return proven ? Math.max(0, system.now() - proven.started) / 1000 : Number.POSITIVE_INFINITY
    },
  },
  {
    kind: 'gauge',
    name: 'backup_proof_failed',
    help: '1 when the last proof found something wrong.',
    read: async () => Number(((await runs.report()).checked?.proof_problem ?? null) !== null),
  },
]

const ofBackups = (runs: Pick<BackupRuns, 'report'>, system: Pick<System, 'now'>): readonly Metric[] => [
  {
    kind: 'gauge',
    name: 'backup_age_seconds',
    help: 'Seconds since the snapshot of the last scheduled backup; +Inf when there is none.',
    read: async () => {
      const { made } = await runs.report()
      return made ? Math.max(0, system.now() - made.started) / 1000 : Number.POSITIVE_INFINITY
    },
  },
  {
    kind: 'gauge',
    name: 'backup_size_bytes',
    help: 'Bytes of all files in that backup.',
    read: async () => (await runs.report()).made?.bytes ?? 0,
  },
  {
    kind: 'gauge',
    name: 'backup_duration_seconds',
    help: 'How long that backup took.',
    read: async () => {
      const { made } = await runs.report()
      return made ? ((made.finished ?? made.started) - made.started) / 1000 : 0
    },
  },
  {
    kind: 'gauge',
    name: 'backup_failed',
    help: '1 when the last scheduled backup failed, or lacks files that the store has lost.',
    read: async () => Number(((await runs.report()).ended?.problem ?? null) !== null),
  },
]
