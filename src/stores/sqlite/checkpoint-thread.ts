import { workerData } from 'node:worker_threads'
import { WriteTurn } from '../shared/write-turn.ts'
import { loadSqlite } from './sqlite-module.ts'

/** A commit writes between five pages and some hundred. */
const COMMITS_TOGETHER = 8

export interface CheckpointThread {
  readonly path: string
  /** The turn to write, whose commits are counted. */
  readonly turn: SharedArrayBuffer
  /** The thread ends when it is woken and the only number is not 0. */
  readonly end: Int32Array
}

const { path, turn: shared, end } = workerData as CheckpointThread
const turn = new WriteTurn(shared)
const { DatabaseSync } = await loadSqlite()
// Waits for no lock: a writer that copies the log itself needs no help.
const handle = new DatabaseSync(path, { timeout: 0 })
handle.exec('PRAGMA synchronous = NORMAL')
const copy = handle.prepare('PRAGMA wal_checkpoint(PASSIVE)')
const hasEnded = (): boolean => Atomics.load(end, 0) !== 0
// What has been committed before is copied at once.
let awaited = turn.commits
for (;;) {
  turn.waitForCommits(awaited, hasEnded)
  if (hasEnded()) break
  // Commits that come while the log is copied count for the next time.
  const { commits } = turn
  awaited = commits + COMMITS_TOGETHER
  turn.copied(commits, copyLog())
}
handle.close()

/** Returns how many pages the log has. */
function copyLog(): number {
  try {
    return (copy.get() as { log: number }).log
  } catch {
    // Nothing is lost, and the next commits cause another attempt. A full or broken disk is reported to those who write.
    return 0
  }
}
