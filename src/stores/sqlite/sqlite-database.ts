import { statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { StartupError, StoreDamaged } from '../../base/errors.ts'
import { timed } from '../../base/request-timings.ts'
import { Mutex } from '../../base/semaphore.ts'
import type { Bytes, Milliseconds } from '../../base/units.ts'
import { type Database, type Queries, readOnly, type TransactionOptions } from '../database.ts'
import { translateDiskError } from '../disk.ts'
import { type Sql, sql } from '../sql.ts'
import { GroupCommit, SqliteConnection, SqliteTransaction, writesRows } from './sqlite-connection.ts'

export interface SqliteOptions {
  /** Memory for pages that have been read; 64 MiB by default. */
  readonly readCache?: Bytes
  /** Maximum number of prepared statements per connection; 500 by default. */
  readonly statements?: number
  /** Sorts in temporary files, for more rows than fit into memory (`config/environment.ts`). */
  readonly sortsInFiles?: boolean
}

const IN_MEMORY = ':memory:'
const LOCK_TIMEOUT: Milliseconds = 2000
const SECOND_CACHE: Bytes = 16 * 2 ** 20
const SECOND_STATEMENTS = 200
const SQLITE_ERROR = 1

/**
 * Opens or creates the database file at `path`; its folder must exist. `:memory:` creates a database that ends with `close`.
 * @throws {StartupError} when the file system does not support a write-ahead log.
 */
export async function openSqliteDatabase(path: string, options: SqliteOptions = {}): Promise<Database> {
  const { readCache = 64 * 2 ** 20, statements = 500, sortsInFiles = false } = options
  const connect = (readOnly: boolean): DatabaseSync =>
    // Only another program, such as an operator's shell, can hold a lock; waiting for it blocks the whole process.
    new DatabaseSync(path, { readOnly, enableForeignKeyConstraints: true, timeout: LOCK_TIMEOUT })

  // SQLite would make the file readable for all users; its log and index files inherit this mode.
  if (path !== IN_MEMORY) await (await open(path, 'a', 0o600)).close()
  const writing = connect(false)
  try {
    prepareToWrite(writing, path)
    if (sortsInFiles) writing.exec('PRAGMA temp_store = FILE')
    const writer = new SqliteConnection(writing, statements)
    if (path === IN_MEMORY) return new SqliteDatabase(writer, writer)
    const connectReader = (): SqliteConnection =>
      new SqliteConnection(prepareToRead(connect(true), readCache), statements)
    const reader = connectReader()
    return new SqliteDatabase(writer, reader, { connectReader, isLogInPlace: watchedLog(path) })
  } catch (error) {
    writing.close()
    throw translateDiskError(error)
  }
}

/** Opens another connection to an existing database for a thread other than the writing one; it refuses to write. */
export async function openSqliteReader(path: string): Promise<Database> {
  const connect = (): SqliteConnection =>
    new SqliteConnection(
      prepareToRead(new DatabaseSync(path, { readOnly: true, timeout: LOCK_TIMEOUT }), SECOND_CACHE),
      SECOND_STATEMENTS,
    )
  try {
    return new SqliteDatabase(connect(), connect(), { connectReader: connect, asksAlways: true })
  } catch (error) {
    throw translateDiskError(error)
  }
}

/**
 * SQLite keeps its log open. Should another program believe that it is alone and delete it, all later commits would be lost with the
 * end of this process.
 */
function watchedLog(path: string): () => boolean {
  const inode = (): number | undefined => statSync(`${path}-wal`, { throwIfNoEntry: false })?.ino
  const first = inode()
  return () => inode() === first
}

function prepareToWrite(handle: DatabaseSync, path: string): void {
  const { journal_mode: mode } = handle.prepare('PRAGMA journal_mode = WAL').get() as { journal_mode: string }
  if (mode !== 'wal' && path !== IN_MEMORY) {
    throw new StartupError(`The database ${path} cannot use a write-ahead log here (mode ${mode}); use a local disk.`)
  }
  handle.exec(`
    PRAGMA synchronous = FULL;
    PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -16384;
    PRAGMA journal_size_limit = 67108864;
    SELECT 1 FROM sqlite_schema
  `)
}

/**
 * No memory map: a page that cannot be read would raise SIGBUS and end the process, instead of an error of one statement.
 * The page cache does the same for pages in use.
 */
function prepareToRead(handle: DatabaseSync, cache: Bytes): DatabaseSync {
  handle.exec(`PRAGMA temp_store = MEMORY; PRAGMA cache_size = -${Math.ceil(cache / 1024)}; PRAGMA mmap_size = 0`)
  return handle
}

interface Access {
  readonly connectReader?: () => SqliteConnection
  /** Another thread writes, and its clients may ask here at once: a revision of this iteration of the event loop may be too old. */
  readonly asksAlways?: boolean
  readonly isLogInPlace?: () => boolean
}

/**
 * All writes go through one connection and one mutex, in order of arrival. Reads have their own connection, so that they neither wait for a
 * transaction nor see uncommitted changes. A database in memory has only one connection, so its reads wait too.
 */
class SqliteDatabase implements Database {
  readonly engine = 'sqlite'
  readonly #writer: SqliteConnection
  readonly #reader: SqliteConnection
  readonly #connectReader: (() => SqliteConnection) | undefined
  readonly #asksAlways: boolean
  readonly #mutex = new Mutex()
  readonly #commits: GroupCommit
  #closed: Promise<void> | undefined
  /** The revision read in this iteration of the event loop, valid until this process writes. */
  #seen: { readonly writes: number; readonly revision: number } | undefined

  constructor(
    writer: SqliteConnection,
    reader: SqliteConnection,
    { connectReader, asksAlways = false, isLogInPlace }: Access = {},
  ) {
    this.#writer = writer
    this.#reader = reader
    this.#asksAlways = asksAlways
    this.#connectReader = connectReader
    this.#commits = new GroupCommit(writer, this.#mutex, isLogInPlace)
  }

  /**
   * Counts commits as the reading connection sees them, including those of other processes (`stowage unlock`). Their commits become visible
   * with the next iteration of the event loop, because many requests are served in one iteration and would each query SQLite.
   */
  get revision(): number | undefined {
    this.#requireOpen()
    if (this.#reader === this.#writer) return undefined
    const writes = this.#writer.statements
    if (this.#asksAlways || this.#seen?.writes !== writes) {
      this.#seen = { writes, revision: this.#reader.revision }
      setImmediate(() => (this.#seen = undefined))
    }
    return this.#seen.revision
  }

  async all<Row>(statement: Sql): Promise<Row[]> {
    // INSERT ... RETURNING is called like a read, but writes.
    if (writesRows(statement)) return await this.transaction(tx => tx.all<Row>(statement))
    return await this.#read(connection => connection.all(statement) as Row[])
  }

  async get<Row>(statement: Sql): Promise<Row | undefined> {
    if (writesRows(statement)) return await this.transaction(tx => tx.get<Row>(statement))
    return await this.#read(connection => connection.get(statement) as Row | undefined)
  }

  run(statement: Sql): Promise<number> {
    return this.transaction(tx => tx.run(statement))
  }

  async transaction<T>(work: (tx: Queries) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    this.#requireOpen()
    return await this.#commits.run(work, options)
  }

  /** @throws the failure of the last write, unless a small new write succeeds */
  async requireWritable(): Promise<void> {
    if (this.#commits.failure) await this.transaction(async () => this.#writer.execute('PRAGMA user_version = 0'))
  }

  /** The lock on the folder already excludes other processes. */
  async withExclusiveLock<T>(work: () => Promise<T>): Promise<T> {
    return await work()
  }

  async snapshot<T>(work: (at: Queries) => Promise<T>): Promise<T> {
    this.#requireOpen()
    // A database in memory has only one connection, so other work waits.
    if (!this.#connectReader) return await this.#mutex.run(() => readAt(this.#writer, work))
    const connection = this.#connectReader()
    try {
      return await readAt(connection, work)
    } finally {
      connection.close()
    }
  }

  async findDamage({ maxBytes = Number.POSITIVE_INFINITY }: { readonly maxBytes?: Bytes } = {}): Promise<string[]> {
    this.#requireOpen()
    try {
      const size = this.#reader.get(
        sql`SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()`,
      ) as { readonly bytes: Bytes }
      if (size.bytes > maxBytes) return []
      const rows = this.#reader.all(sql`PRAGMA quick_check(20)`) as Array<Record<string, string>>
      return rows.flatMap(row => Object.values(row)).filter(line => line !== 'ok')
    } catch (error) {
      if (error instanceof StoreDamaged) return [error.cause instanceof Error ? error.cause.message : error.message]
      // The checks of the full-text index fail like a wrong statement when its version is lost.
      if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_ERROR) return [error.message]
      throw error
    }
  }

  /** SQLite copies the log into the database when its last connection is closed. */
  close(): Promise<void> {
    this.#closed ??= this.#mutex.run(() => {
      if (this.#reader !== this.#writer) this.#reader.close()
      this.#writer.close()
    })
    return this.#closed
  }

  #read<T>(query: (connection: SqliteConnection) => T): T | Promise<T> {
    this.#requireOpen()
    const read = (): T => timed('database', 'read', () => query(this.#reader))
    return this.#reader === this.#writer ? this.#mutex.run(read) : read()
  }

  #requireOpen(): void {
    if (this.#closed) throw new Error('the database is closed')
  }
}

/** Runs the work in a transaction that only reads. */
async function readAt<T>(connection: SqliteConnection, work: (at: Queries) => Promise<T>): Promise<T> {
  const at = new SqliteTransaction(connection)
  connection.execute('BEGIN')
  try {
    // SQLite takes its snapshot with the first read.
    connection.execute('SELECT 1 FROM sqlite_schema')
    return await work(readOnly(at))
  } finally {
    at.end()
    connection.execute('ROLLBACK')
  }
}
