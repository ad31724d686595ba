import type { Log } from '../base/log.ts'
import type { System } from '../base/system.ts'
import type { Surround } from '../stores/migrations.ts'

/** Steps that write every row of a large table, by number. */
const takes: ReadonlyMap<number, string> = new Map([[51, 'about 2 s for each 100,000 files']])
const TAKES = 'less than 1 s for each 100,000 entries'

/** Logs each step of an upgrade: what it does, how long it may take, and how long it took. */
export const loggedUpgrade =
  (log: Log, system: Pick<System, 'monotonic'>): Surround =>
  async ({ id, name }, run) => {
    log.info({ schema: id, step: name, takes: takes.get(id) ?? TAKES }, 'upgrading the tables')
    const begun = system.monotonic()
    await run()
    log.info({ schema: id, ms: Math.round(system.monotonic() - begun) }, 'upgraded the tables')
  }
