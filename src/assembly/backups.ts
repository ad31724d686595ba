import { Worker } from 'node:worker_threads'
import { AdminMails } from '../accounts/admin-mails.ts'
import type { MailQueue } from '../accounts/mail-queue.ts'
import { type BackupResult, BackupRuns } from '../backup/backup-runs.ts'
import { BackupSchedule } from '../backup/backup-schedule.ts'
import { encryptionTo } from '../backup/cipher.ts'
import type { Milliseconds } from '../base/units.ts'
import type { Settings } from '../config/settings.ts'
import type { ServiceAddress } from '../http/base-address.ts'
import { type UiAssets, wordsFor } from '../http/page.ts'
import type { Database } from '../stores/database.ts'
import { threadModule } from '../workers/thread-pool.ts'
import type { RuntimeEnvironment } from './machine.ts'

/** What the thread of one backup needs. */
export interface BackupTask {
  readonly settings: Settings
  readonly place: string
  readonly created: Milliseconds
  /** The base address. */
  readonly service: string
  readonly program: string
}

export type BackupAnswer =
  | { readonly failure: string }
  | {
      readonly files: number
      readonly bytes: number
      /** Blobs that the store has lost. */
      readonly damaged: readonly string[]
      /** Why old backups were not removed. */
      readonly old: string | undefined
    }

interface Dependencies {
  readonly database: Database
  readonly mails: MailQueue | undefined
  readonly ui: UiAssets
  readonly address: ServiceAddress
}

/** The backups that the service makes itself; `undefined` without a schedule. @throws {StartupError} for a key that is none */
export async function createBackups(settings: Settings, machine: RuntimeEnvironment, deps: Dependencies) {
  const expression = settings['service.backup.schedule']
  const place = settings['service.backup.target']
  if (expression === undefined || place === undefined) return undefined
  await encryptionTo(settings['service.backup.encrypt-to.<n>'])
  const { database, mails, ui, address } = deps
  const runs = new BackupRuns(database, machine.system)
  const adminMails = mails && new AdminMails({ database, mails, address: () => address.base.href })
  const schedule = new BackupSchedule(expression, {
    ...machine,
    runs,
    make: (created, signal) =>
      makeInThread({ settings, place, created, service: address.base.href, program: machine.version }, signal),
    onProblem: problem => {
      machine.log.error({ problem }, 'a scheduled backup had a problem')
      adminMails?.add('ui/admin', language => backupMailTexts(ui, problem, language))
    },
  })
  return { schedule, runs }
}

async function makeInThread(task: BackupTask, signal: AbortSignal): Promise<BackupResult> {
  signal.throwIfAborted()
  const thread = new Worker(threadModule('backup-thread', import.meta.url), { workerData: task })
  const stop = (): void => thread.postMessage('stop')
  signal.addEventListener('abort', stop)
  try {
    const answer = await new Promise<BackupAnswer>((resolve, reject) => {
      thread.once('message', resolve)
      thread.once('error', reject)
      thread.once('exit', () => reject(new Error('the thread of the backup has ended')))
    })
    signal.throwIfAborted()
    if ('failure' in answer) throw new Error(answer.failure)
    return { files: answer.files, bytes: answer.bytes, problem: problemOf(answer) }
  } finally {
    signal.removeEventListener('abort', stop)
    await thread.terminate()
  }
}

function problemOf({ damaged, old }: Exclude<BackupAnswer, { readonly failure: string }>): string | null {
  if (damaged.length === 0) return old ?? null
  const files = damaged.length === 1 ? 'one file' : `${damaged.length} files`
  return `The backup was made without ${files} whose bytes the store has lost. Run \`stowage fsck\`, which names them.`
}

/** The texts of a mail about a failed backup, in the language of its recipient. */
function backupMailTexts(ui: UiAssets, problem: string, own: string | undefined) {
  const { language, words } = wordsFor(ui, [own])
  return {
    language,
    subject: words['mail.backup.subject'],
    why: words['mail.backup.why'],
    how: problem,
    button: words['mail.backup.button'],
    otherwise: words['mail.backup.otherwise'],
  }
}
