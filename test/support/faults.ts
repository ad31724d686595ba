import type { FileHandle } from 'node:fs/promises'
import type { Database, Queries, TransactionOptions } from '../../src/stores/database.ts'
import type { FileCalls } from '../../src/stores/folder-blob-store.ts'
import type { Sql } from '../../src/stores/sql.ts'

/** How a call fails. Both `short` and `unsure` do the work first: the one in part, the other all of it. */
export type Fault = 'ENOSPC' | 'EIO' | 'EMFILE' | 'short' | 'unsure'

/** Counts the calls of files and database, and makes one of them fail, or all from one on. */
export class Faults {
  /** What has been called, in order. */
  calls: string[] = []
  #failing: { readonly at: number; readonly fault: Fault; readonly lasting: boolean } | undefined

  /** Makes the `at`th call from now on fail, counted from 1; with `lasting` also all later ones. */
  plan(at: number, fault: Fault, lasting = false): void {
    this.calls = []
    this.#failing = { at, fault, lasting }
  }

  get isUnsure(): boolean {
    return this.#failing?.fault === 'unsure'
  }

  heal(): void {
    this.calls = []
    this.#failing = undefined
  }

  /**
   * @param partly the part of the work that a `short` fault still does
   * @param undo cleans up the result of work that is reported as failed
   */
  async call<T>(
    name: string,
    work: () => Promise<T>,
    partly?: () => Promise<unknown>,
    undo?: (made: T) => Promise<unknown>,
  ): Promise<T> {
    const number = this.calls.push(name)
    const failing = this.#failing
    if (!failing || (failing.lasting ? number < failing.at : number !== failing.at)) return await work()
    if (failing.fault === 'unsure') await undo?.(await work())
    if (failing.fault === 'short') await partly?.()
    const code = failing.fault === 'short' || failing.fault === 'unsure' ? 'EIO' : failing.fault
    throw Object.assign(new Error(`${code}: ${name} was made to fail`), { code })
  }
}

/** File calls that can be made to fail. */
export function faultyFiles(real: FileCalls, faults: Faults): FileCalls {
  return {
    open: (path, flags) =>
      faults.call(
        'open',
        () => real.open(path, flags),
        undefined,
        handle => real.close(handle),
      ),
    write: (handle, chunks) =>
      faults.call(
        'write',
        () => real.write(handle, chunks),
        () => {
          const whole = Buffer.concat(chunks)
          return real.write(handle, [whole.subarray(0, Math.ceil(whole.length / 2))])
        },
      ),
    sizeOf: handle => faults.call('sizeOf', () => real.sizeOf(handle)),
    truncate: (handle, size) => faults.call('truncate', () => real.truncate(handle, size)),
    sync: handle => faults.call('sync', () => real.sync(handle)),
    async close(handle: FileHandle) {
      // The descriptor is released even if closing it fails.
      await real.close(handle)
      await faults.call('close', async () => undefined)
    },
    rename: (from, to) => faults.call('rename', () => real.rename(from, to)),
    unlink: path => faults.call('unlink', () => real.unlink(path)),
    mkdir: path => faults.call('mkdir', () => real.mkdir(path)),
    readdir: path => faults.call('readdir', () => real.readdir(path)),
    stat: path => faults.call('stat', () => real.stat(path)),
  }
}

/**
 * A database whose statements, BEGIN or COMMIT can be made to fail. An unsure COMMIT is done, but reported as
 * failed.
 */
export function faultyDatabase(real: Database, faults: Faults): Database {
  const through = (queries: Queries): Queries => ({
    engine: queries.engine,
    all: <Row>(statement: Sql) => faults.call('all', () => queries.all<Row>(statement)),
    get: <Row>(statement: Sql) => faults.call('get', () => queries.get<Row>(statement)),
    run: (statement: Sql) => faults.call('run', () => queries.run(statement)),
  })
  return {
    ...through(real),
    get revision() {
      return real.revision
    },
    withExclusiveLock: work => real.withExclusiveLock(work),
    async transaction<T>(work: (tx: Queries) => Promise<T>, options?: TransactionOptions): Promise<T> {
      await faults.call('begin', async () => undefined)
      // A failure inside makes the database roll back; a failure afterwards leaves everything committed.
      let unsure: unknown
      const result = await real.transaction(async tx => {
        const made = await work(through(tx))
        try {
          await faults.call('commit', async () => undefined)
        } catch (error) {
          if (!faults.isUnsure) throw error
          unsure = error
        }
        return made
      }, options)
      if (unsure !== undefined) throw unsure
      return result
    },
    snapshot: work => real.snapshot(at => work(through(at))),
    findDamage: options => real.findDamage(options),
    requireWritable: () => real.requireWritable(),
    close: () => real.close(),
  }
}
