import { access, constants, lstat, open, rm, stat, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  Overloaded,
  ServiceError,
  StartupError,
  StorageForbidden,
  StorageFull,
  StorageReadOnly,
  StoreDamaged,
  StoreUnavailable,
} from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Bytes, Milliseconds } from '../base/units.ts'

/** `low` raises an alarm; `full`, `read-only` and `missing` reject new data. `missing` lasts until the next start. */
export const diskStates = ['ok', 'low', 'full', 'read-only', 'missing'] as const
type DiskState = (typeof diskStates)[number]

interface DiskMeasurement {
  /** Of the folder: another folder under the same path, for instance one that a disk is mounted on, has another identity. */
  readonly identity: string
  /** Size of the file system. */
  readonly size: Bytes
  /** Space that this user can still write. */
  readonly free: Bytes
  readonly isWritable: boolean
}

interface DiskSpaceOptions {
  readonly folder: string
  readonly log: Log
  /** Tests set this and the next two. By default {@link LOW_SPACE}. */
  readonly alarm?: Bytes
  /** By default {@link RESERVED_SPACE}. */
  readonly reserve?: Bytes
  readonly measure?: (folder: string) => Promise<DiskMeasurement>
}

/** Below this much free space the state is `low`, on a small disk below a fifth of it, so that an operator has time to act. */
const LOW_SPACE: Bytes = 2 ** 30
/**
 * Free space for deletions and the records of the service alone, on a small disk a twentieth of it: a deletion writes to the database and its
 * log before it frees anything.
 */
const RESERVED_SPACE: Bytes = 2 ** 26

/** The free space below which a disk of this size is low, and full. */
export const spaceLimits = (
  size: Bytes,
  { alarm = LOW_SPACE, reserve = RESERVED_SPACE }: Pick<DiskSpaceOptions, 'alarm' | 'reserve'> = {},
): { readonly low: Bytes; readonly full: Bytes } => ({
  low: Math.min(alarm, size / 5),
  full: Math.min(reserve, size / 20),
})

const INTERVAL: Milliseconds = 5000
/**
 * A file that occupies space. When the disk is full it is deleted, so that deletions and a start, which need some space first, can
 * proceed.
 */
const RESERVE_FILE = 'reserve'
const MAX_RESERVE_FILE: Bytes = 2 ** 24

/**
 * Monitors the file system of the data folder. New data are rejected before the disk is full, because SQLite needs space to
 * delete rows. If another program fills the disk, the reserve file is removed.
 */
export class DiskSpace {
  readonly #options: DiskSpaceOptions
  readonly #measure: (folder: string) => Promise<DiskMeasurement>
  readonly #timer: NodeJS.Timeout
  readonly #identity: string
  #last: DiskMeasurement
  #state: DiskState = 'ok'
  #checking: Promise<DiskState> | undefined

  private constructor(options: DiskSpaceOptions, measure: DiskSpaceOptions['measure'] & {}, first: DiskMeasurement) {
    this.#options = options
    this.#measure = measure
    this.#identity = first.identity
    this.#last = first
    this.#timer = setInterval(() => void this.check(), INTERVAL).unref()
  }

  static async open(options: DiskSpaceOptions): Promise<DiskSpace> {
    const measure = options.measure ?? measureDisk
    const space = new DiskSpace(options, measure, await measure(options.folder))
    await space.check()
    return space
  }

  get state(): DiskState {
    return this.#state
  }

  get free(): Bytes {
    return this.#last.free
  }

  get size(): Bytes {
    return this.#last.size
  }

  /**
   * @param bytes size of the write, as far as it is known
   * @throws {StorageFull} when it would use up the reserve
   * @throws {StorageReadOnly}
   */
  requireSpace(bytes: Bytes = 0): void {
    if (this.#state === 'missing') throw new StoreUnavailable('The data folder', { retryAfter: 60 })
    if (this.#state === 'read-only') throw new StorageReadOnly()
    if (this.#state === 'full' || this.#last.free - bytes < this.#reserve) throw new StorageFull()
  }

  /** @throws {Error} while the disk accepts no new data */
  async requireHealthy(): Promise<void> {
    const state = await this.check()
    if (state === 'missing') throw new Error('the data folder is missing, or another one is in its place')
    if (state === 'full' || state === 'read-only') throw new Error(`the disk of the data folder is ${state}`)
  }

  /** Measures at once, for instance after the disk has rejected a write. Does not reject. */
  check(): Promise<DiskState> {
    this.#checking ??= this.#check().finally(() => (this.#checking = undefined))
    return this.#checking
  }

  /** Writes the reserve file if it is missing and the disk is not full afterwards. Does not reject. */
  async #restoreReserve(): Promise<void> {
    const size = this.#reserveFileSize
    if (!this.#last.isWritable || this.#last.free - size < this.#reserve || size === 0) return
    const path = join(this.#options.folder, RESERVE_FILE)
    try {
      const present = await lstat(path).catch(() => undefined)
      if (present?.isFile() && present.size === size) return
      // Removed first, because writing would follow a link.
      await rm(path, { force: true })
      await writeFile(path, Buffer.alloc(size), { flag: 'wx', mode: 0o600 })
    } catch (error) {
      this.#options.log.warn({ err: error }, 'the reserve for a full disk could not be written')
    }
  }

  close(): void {
    clearInterval(this.#timer)
  }

  get #reserve(): Bytes {
    return spaceLimits(this.#last.size, this.#options).full
  }

  get #reserveFileSize(): Bytes {
    return Math.floor(Math.min(MAX_RESERVE_FILE, this.#reserve / 4))
  }

  async #check(): Promise<DiskState> {
    if (this.#state === 'missing') return this.#state
    const before = this.#state
    try {
      this.#last = await this.#measure(this.#options.folder)
      if (this.#last.identity !== this.#identity) return this.#miss(before)
      const freed = await releaseReserve(this.#options.folder, this.#last.free)
      if (freed > 0) {
        this.#options.log.warn({ freed }, 'the reserve was released so that data can be deleted')
        this.#last = await this.#measure(this.#options.folder)
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return this.#miss(before)
      this.#options.log.warn({ err: error }, 'the free space of the data folder could not be measured')
      if (!isUnwritable(error)) return this.#state
      this.#last = { ...this.#last, isWritable: false }
    }
    this.#state = this.#evaluate()
    if (this.#state !== before) this.#report(before)
    await this.#restoreReserve()
    return this.#state
  }

  /** The open database and its lock belong to the folder that was there at the start, so nothing is written until the next start. */
  #miss(before: DiskState): DiskState {
    this.#state = 'missing'
    const { folder, log } = this.#options
    log.error({ folder, before }, 'the data folder is missing, or another one is in its place: stop the service')
    return this.#state
  }

  #evaluate(): DiskState {
    const { free, size, isWritable } = this.#last
    if (!isWritable) return 'read-only'
    if (free < this.#reserve) return 'full'
    return free < spaceLimits(size, this.#options).low ? 'low' : 'ok'
  }

  #report(before: DiskState): void {
    const { folder, log } = this.#options
    const facts = { folder, state: this.#state, before, free: this.#last.free, size: this.#last.size }
    if (this.#state === 'ok') log.info(facts, 'the disk of the data folder has enough free space again')
    else if (this.#state === 'low') log.warn(facts, 'the disk of the data folder is getting full')
    else if (this.#state === 'full') log.error(facts, 'the disk of the data folder is full: new data are refused')
    else log.error(facts, 'the data folder cannot be written to: changes are refused')
  }
}

/** Deletes the reserve file when less than half of its size is free; also before a start, which needs space. Returns what that freed. */
export async function releaseReserve(folder: string, free?: Bytes): Promise<Bytes> {
  const path = join(folder, RESERVE_FILE)
  const present = await lstat(path).catch(() => undefined)
  if (!present || (free ?? (await measureDisk(folder)).free) >= present.size / 2) return 0
  await rm(path, { force: true })
  return present.size
}

/** Measures the file system that contains `folder`. */
export async function measureDisk(folder: string): Promise<DiskMeasurement> {
  const { blocks, bavail, bsize } = await statfs(folder)
  const { dev, ino } = await stat(folder)
  const identity = `${dev}:${ino}`
  return { identity, size: blocks * bsize, free: bavail * bsize, isWritable: await isWritable(folder) }
}

/**
 * Opens a file for writing, because the permissions stay the same when the kernel has made the file system read-only after an error of the
 * disk.
 */
async function isWritable(folder: string): Promise<boolean> {
  try {
    await (await open(join(folder, RESERVE_FILE), constants.O_RDWR | constants.O_NOFOLLOW)).close()
  } catch (error) {
    if (isUnwritable(error)) return false
  }
  return await access(folder, constants.W_OK).then(
    () => true,
    () => false,
  )
}

/** Other errors do not mean that the disk is read-only: the reserve file may be missing, or too many files open. */
const isUnwritable = (error: unknown): boolean =>
  ['EROFS', 'EIO', 'EACCES'].includes(String((error as NodeJS.ErrnoException).code))

/** Codes of SQLite; the low byte of an extended code is the kind of error. */
const SQLITE_READONLY = 8
const SQLITE_IOERR = 10
const SQLITE_CORRUPT = 11
const SQLITE_FULL = 13
const SQLITE_CANTOPEN = 14
const SQLITE_NOTADB = 26
/** The index of the write-ahead log could not grow: the disk is full. */
const SQLITE_IOERR_SHMSIZE = 4874
const SQLITE_IOERR_FSYNC = 1034

/**
 * Converts an error of the file system or of SQLite into one that describes what an operator has to do. Returns all other
 * errors unchanged.
 */
export function translateDiskError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ServiceError) return error
  if ('errcode' in error) return translateSqlite(error, Number(error.errcode))
  switch ('code' in error ? error.code : undefined) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new StorageFull({ cause: error })
    case 'EROFS':
      return new StorageReadOnly({ cause: error })
    case 'EACCES':
    case 'EPERM':
      return new StorageForbidden({ cause: error })
    case 'EIO':
      return new StoreUnavailable('The disk of the service', { cause: error })
    case 'EMFILE':
    case 'ENFILE':
      return new Overloaded('The service has too many files open.', 5, 'overloaded', { cause: error })
    default:
      return error
  }
}

function translateSqlite(cause: Error, code: number): unknown {
  if (code === SQLITE_IOERR_SHMSIZE) return new StorageFull({ cause })
  switch (code & 0xff) {
    case SQLITE_FULL:
      return new StorageFull({ cause })
    case SQLITE_READONLY:
      return new StorageReadOnly({ cause })
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
      return new StoreUnavailable('The database', { cause })
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return new StoreDamaged({ cause })
    default:
      return cause
  }
}

/** Whether the disk cannot read this place. Others it may be able to read. */
export const isUnreadable = (error: unknown): error is Error =>
  error instanceof Error && (('code' in error && error.code === 'EIO') || isUnreadable(error.cause))

/** Whether SQLite reports that the disk did not confirm a commit. @param error converted by {@link translateDiskError} */
export const isSyncFailure = (error: unknown): boolean =>
  error instanceof StoreUnavailable &&
  error.cause instanceof Error &&
  'errcode' in error.cause &&
  error.cause.errcode === SQLITE_IOERR_FSYNC

/** Settles like `work`, with errors converted by {@link translateDiskError}. */
export async function withDiskErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw translateDiskError(error)
  }
}

/** Says to a client what the error of a start says to an operator, who finds it in the log. Other errors stay as they are. */
export function refusalFor(error: unknown, what: string): unknown {
  if (!(error instanceof StartupError)) return error
  const refusal = translateDiskError(error.cause)
  return refusal instanceof ServiceError ? refusal : new StoreUnavailable(what, { cause: error })
}

/** What an operator can do about a read-only folder, after the name of the folder. */
export const IS_READ_ONLY =
  'is read-only here. A systemd unit may write only to the folders that it names in ReadWritePaths'

/**
 * Settles like `work`, which writes to `place` and not to the disk of the service.
 * @throws {StartupError} that names the place when its disk is full, read-only or fails
 */
export async function withDiskErrorsAt<T>(place: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    const cause = translateDiskError(error)
    if (cause instanceof StorageFull) throw new StartupError(`${place} is full.`, { cause })
    if (cause instanceof StorageReadOnly) throw new StartupError(`${place} ${IS_READ_ONLY}.`, { cause })
    if (cause instanceof StoreUnavailable && isUnreadable(cause.cause))
      throw new StartupError(`The disk of ${place} reports an error: ${cause.cause.message}.`, { cause })
    throw error
  }
}
