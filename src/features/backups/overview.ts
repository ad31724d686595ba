import { nextTime } from '../../base/cron.ts'
import { ServiceError, StartupError } from '../../base/errors.ts'
import type { System } from '../../base/system.ts'
import { isoTime } from '../../base/times.ts'
import type { Milliseconds } from '../../base/units.ts'
import { othersToAccept } from './acceptance.ts'
import type { BackupRun, BackupRuns } from './backup-runs.ts'
import { withTarget } from './backup-place.ts'
import { reasonOf } from './backup-target.ts'
import { originOf } from './manifest-key.ts'
import { lastGood } from './last-good.ts'
import { readMemory } from './memory.ts'
import {
  damageInShort,
  doubtInShort,
  futureInShort,
  keptUntilAccepted,
  remarksOn,
  tellGone,
  tellNotRemembered,
} from './remarks.ts'
import {
  type Generation,
  lossesIn,
  type ListedGeneration,
  listGenerations,
  notOfFuture,
  ofFuture,
} from './generations.ts'
import type { BackupSettings } from './settings.ts'

/** How many of the last attempts are described. */
const MAX_RUNS = 20

interface Scheduled {
  readonly runs: BackupRuns
  readonly settings: BackupSettings
  /** The cron expression. */
  readonly schedule: string
  readonly place: string
}

/** The scheduled backups, for administrators: when the next one is made, the last attempts, and what is in the place of backups. */
export class BackupOverview {
  readonly #scheduled: Scheduled | undefined
  readonly #system: Pick<System, 'now'>

  /** @param scheduled `undefined` while the service makes no backups */
  constructor(scheduled: Scheduled | undefined, system: Pick<System, 'now'>) {
    this.#scheduled = scheduled
    this.#system = system
  }

  async read() {
    if (!this.#scheduled) return { isOn: false, runs: [], generations: [], unreadable: 0 }
    const { runs, settings, schedule, place } = this.#scheduled
    const latest = await runs.latest(MAX_RUNS)
    return {
      isOn: true,
      schedule,
      place,
      keep: settings['service.backup.keep'],
      isProven: settings['service.backup.prove'],
      next: isoTime(nextTime(schedule, this.#system.now())),
      runs: latest.map(describeRun),
      ...(await this.#generations(settings, place, (await runs.report()).made)),
    }
  }

  /** What the place of backups has, or why it cannot be read. */
  async #generations(settings: BackupSettings, place: string, last: BackupRun | undefined) {
    try {
      return await withTarget(settings, place, async target => {
        const found = await listGenerations(target)
        const { generations, unreadable } = found
        const losses = lossesIn(generations)
        const memory = await readMemory(settings, place)
        const { own, problems } = memory
        const now = this.#system.now()
        const others = new Set(othersToAccept(notOfFuture(generations, now), own))
        const future = new Set(ofFuture(generations, now))
        const describe = (listed: ListedGeneration) => ({
          ...describeGeneration(listed.generation),
          isSigned: ['own', 'other'].includes(originOf(listed.generation, undefined)),
          doubt:
            doubtInShort(listed.generation, target.pathOf('generations', listed.key)) ??
            (future.has(listed) ? futureInShort(target, listed) : undefined) ??
            damageInShort(target, listed.generation, problems) ??
            (others.has(listed) ? keptUntilAccepted(target, listed.generation, own) : undefined),
          loss: losses.get(listed.generation)?.text,
        })
        return {
          generations: generations.map(describe),
          unreadable: unreadable.length,
          lastGood: lastGood(generations, remarksOn(target, generations, memory, now))?.created,
          placeProblem:
            tellGone(target, found, { last, own }) ?? tellNotRemembered(target, notOfFuture(generations, now), own),
        }
      })
    } catch (error) {
      if (!(error instanceof ServiceError || error instanceof StartupError)) throw error
      return { generations: [], unreadable: 0, placeProblem: reasonOf(error, place) }
    }
  }
}

const describeGeneration = ({ created, program, files, tables, recipients }: Generation) => ({
  created,
  program,
  files: files.count,
  bytes: files.bytes,
  rows: tables.reduce((sum, { rows }) => sum + rows, 0),
  isEncrypted: recipients.length > 0,
})

const describeRun = (run: BackupRun) => ({
  started: isoTime(run.started),
  finished: timeOrNone(run.finished),
  files: run.files ?? undefined,
  bytes: run.bytes ?? undefined,
  problem: run.problem ?? undefined,
  proofEnded: timeOrNone(run.proof_ended),
  proofProblem: run.proof_problem ?? undefined,
  proofNote: run.proof_note ?? undefined,
  proven: timeOrNone(run.proven),
  restoreSeconds: run.restored_in === null ? undefined : run.restored_in / 1000,
})

const timeOrNone = (time: Milliseconds | null): string | undefined => (time === null ? undefined : isoTime(time))
