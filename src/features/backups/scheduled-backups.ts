import { Worker } from 'node:worker_threads'
import { AdminMails } from '../../mails/admin-mails.ts'
import { type BackupResult, BackupRuns, type LastMade, type ProofResult } from './backup-runs.ts'
import { BackupSchedule } from './backup-schedule.ts'
import { placeName } from './backup-target.ts'
import { encryptionTo } from './cipher.ts'
import { tellLost } from './lost-files.ts'
import type { Layout, Table } from '../../backup/tables.ts'
import type { Milliseconds } from '../../base/units.ts'
import type { Core } from '../../core/core.ts'
import { type UiAssets, wordsFor } from '../../http/page.ts'
import { threadModule } from '../../workers/thread-pool.ts'
import type { BackupSettings } from './settings.ts'

/** The data that the thread of one backup needs. */
export interface BackupTask {
  readonly settings: BackupSettings
  readonly place: string
  readonly created: Milliseconds
  /** The last backup that was made in this place before; `undefined` if there is none. */
  readonly last: LastMade | undefined
  /** The base address. */
  readonly service: string
  readonly program: string
  /** The tables in a backup. */
  readonly tables: readonly Table[]
  /** The file with the keys that seal secrets, if it is to be in the backup. */
  readonly keyFile: string | undefined
}

/** The data that the thread of one proof needs. */
export interface ProofTask extends Pick<BackupTask, 'settings' | 'place' | 'created' | 'service'> {
  readonly layout: Layout
  /** False while the place lacks the backup that it should have: the files of that backup stay, in case its manifest comes back. */
  readonly mayPrune: boolean
}

type Failure = { readonly failure: string }

export type BackupAnswer =
  | Failure
  | {
      readonly files: number
      readonly bytes: number
      /** Blobs that the store has lost. */
      readonly damaged: readonly string[]
      /** How many files the store has lost that the backup has. */
      readonly lost: number
      /** The problems with older backups, or the reason why they were not removed, each a sentence. */
      readonly old: readonly string[]
      /** The backup that the place lacked. */
      readonly gone: Milliseconds | null
    }

/** The backups that the service makes itself; `undefined` without a schedule. @throws {StartupError} for a key that is none */
export async function createBackups(core: Core & { readonly settings: BackupSettings }) {
  const { settings, database, mails, ui, address, version, layout, ownKeyFile, system, log } = core
  const expression = settings['service.backup.schedule']
  const place = settings['service.backup.target']
  if (expression === undefined || place === undefined) return undefined
  await encryptionTo(settings['service.backup.encrypt-to.<n>'])
  const runs = new BackupRuns(database, system, placeName(settings, place))
  const adminMails = mails && new AdminMails({ database, mails, address: () => address.base.href })
  const schedule = new BackupSchedule(expression, {
    system,
    log,
    runs,
    make: async (created, signal) => {
      const { made } = await runs.report()
      const task: BackupTask = {
        settings,
        place,
        created,
        last: made,
        service: address.base.href,
        program: version,
        tables: layout.tables,
        keyFile: ownKeyFile,
      }
      return await makeInThread(task, signal)
    },
    prove: settings['service.backup.prove']
      ? async ({ started, gone }, signal) => {
          const task: ProofTask = {
            settings,
            place,
            created: started,
            service: address.base.href,
            layout,
            mayPrune: gone === null,
          }
          const answer = await inThread<ProofResult | Failure>('proof-thread', task, signal)
          if ('failure' in answer) throw new Error(answer.failure)
          return answer
        }
      : undefined,
    onProblem: problem => {
      log.error({ problem }, 'a scheduled backup had a problem')
      adminMails?.add('ui/admin', language => backupMailTexts(ui, problem, language))
    },
  })
  return { schedule, runs, expression, place }
}

async function makeInThread(task: BackupTask, signal: AbortSignal): Promise<BackupResult> {
  const answer = await inThread<BackupAnswer>('backup-thread', task, signal)
  if ('failure' in answer) throw new Error(answer.failure)
  return { files: answer.files, bytes: answer.bytes, problem: problemOf(answer, task.place), gone: answer.gone }
}

/** Runs a thread and returns its last message. @throws the reason of `signal`, which stops the thread */
async function inThread<Answer>(name: string, task: object, signal: AbortSignal): Promise<Answer> {
  signal.throwIfAborted()
  const thread = new Worker(threadModule(name, import.meta.url), { workerData: task })
  const stop = (): void => thread.postMessage('stop')
  signal.addEventListener('abort', stop)
  try {
    const answer = await new Promise<Answer>((resolve, reject) => {
      thread.once('message', resolve)
      thread.once('error', reject)
      thread.once('exit', () => reject(new Error('the thread of a backup has ended')))
    })
    signal.throwIfAborted()
    return answer
  } finally {
    signal.removeEventListener('abort', stop)
    await thread.terminate()
  }
}

function problemOf({ damaged, lost, old }: Exclude<BackupAnswer, Failure>, place: string): string | null {
  if (damaged.length === 0 && lost === 0 && old.length === 0) return null
  const without = damaged.length === 1 ? 'one file' : `${damaged.length} files`
  const made =
    damaged.length === 0
      ? 'The backup was made.'
      : `The backup was made without ${without} whose bytes the store has lost. Stop the service and run \`stowage fsck\`, which names them.`
  return [made, ...(lost === 0 ? [] : [tellLost(lost, place)]), ...old].join(' ')
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
