import type { HttpServices } from '../../http/http-services.ts'
import { json, route } from '../../http/interface/route.ts'
import { flag, list, named, numeric, object, optional, text } from '../../http/interface/schema.ts'
import { count, time } from '../../http/interface/shared-schemas.ts'
import type { BackupOverview } from './overview.ts'

interface Services extends HttpServices {
  readonly backupOverview: BackupOverview
}

const Backups = named(
  'Backups',
  object({
    isOn: flag,
    schedule: optional(text()),
    place: optional(text()),
    keep: optional(text()),
    isProven: optional(flag),
    next: optional(time),
    placeProblem: optional(text()),
    lastGood: optional(time),
    runs: list(
      object({
        started: time,
        finished: optional(time),
        files: optional(count),
        bytes: optional(count),
        problem: optional(text()),
        proofEnded: optional(time),
        proofProblem: optional(text()),
        proofNote: optional(text()),
        proven: optional(time),
        restoreSeconds: optional(numeric),
      }),
    ),
    generations: list(
      object({
        created: time,
        program: text(),
        files: count,
        bytes: count,
        rows: count,
        isEncrypted: flag,
        isSigned: flag,
        doubt: optional(text()),
        loss: optional(text()),
      }),
    ),
    unreadable: count,
  }),
)

export const backupRoutes = [
  route({
    id: 'readBackups',
    method: 'GET',
    url: '/management/backups',
    chapter: 'Status and administration',
    summary:
      'Read the time of the next scheduled backup, the results of the last 20 backups and of their test restores, and the list of all backups.',
    details:
      '`bytes` is the size of the files of a backup; several backups can share a file. `isSigned` is true if the signature is valid; otherwise `doubt` says what is wrong. `doubt` also names a backup that the service keeps because another store has made it, or this one before a restore, and a backup with a time in the future. `loss` is present if a backup has much less than the one before, or lacks files. `lastGood` is the time of the newest backup in which nothing is known to be wrong. `unreadable` is the number of backups that this version cannot read. The service reads the place of backups, which can take seconds.',
    requires: { role: 'admin', to: 'see the backups' },
    answers: { 200: json('The backups, the newest first.', Backups) },
    handle: async ({ backupOverview }: Services) => await backupOverview.read(),
  }),
]
