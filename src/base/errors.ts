import type { ErrorCode } from './error-codes.ts'
import type { Seconds } from './units.ts'

/** Members of an error body beside the standard ones, for instance `quota` and `fillLevel` (D7.4). */
export type ErrorExtra = Readonly<Record<string, string | number | readonly string[]>>

export interface ErrorOptions {
  readonly extra?: ErrorExtra
  readonly cause?: unknown
}

/**
 * A refusal: the request was understood well enough to say no. `code` is stable, `detail` is written for a person and
 * names what was wrong. Only `http/problem.ts` knows which status goes with which class.
 */
export abstract class ServiceError extends Error {
  readonly code: ErrorCode
  readonly extra: ErrorExtra

  constructor(code: ErrorCode, detail: string, options: ErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = new.target.name
    this.code = code
    this.extra = options.extra ?? {}
  }
}

/** The request itself is wrong: syntax, range, shape. */
export class InvalidInput extends ServiceError {}
/** Nobody is signed in, and it matters. */
export class Unauthenticated extends ServiceError {}
/** Somebody is signed in, and may not. */
export class Forbidden extends ServiceError {}
export class NotFound extends ServiceError {}
export class NotAcceptable extends ServiceError {}
/** The body stopped coming, or came too slowly. */
export class TooSlow extends ServiceError {}
export class Conflict extends ServiceError {}
export class PreconditionFailed extends ServiceError {}
export class TooLarge extends ServiceError {}
export class UnsupportedType extends ServiceError {}
export class NotSupported extends ServiceError {}

/** Another server, asked on behalf of the caller, gave an answer that is of no use. */
export class UpstreamFailed extends ServiceError {}
/** Another server, asked on behalf of the caller, gave no answer in time. */
export class UpstreamSilent extends ServiceError {}

/** The address exists, the method does not; `allowed` becomes the `Allow` header. */
export class WrongMethod extends ServiceError {
  readonly allowed: readonly string[]

  constructor(method: string, allowed: readonly string[]) {
    super('method-not-allowed', `${method} is not possible here; allowed: ${allowed.join(', ')}.`)
    this.allowed = allowed
  }
}

export class RangeNotSatisfiable extends ServiceError {
  readonly size: number

  constructor(size: number) {
    super('range-not-satisfiable', `The range lies outside the ${size} bytes of the file.`)
    this.size = size
  }
}

/** Too many wrong passwords (D6.1). */
export class LockedOut extends ServiceError {
  readonly retryAfter: Seconds

  constructor(retryAfter: Seconds) {
    super('locked-out', `Too many wrong passwords. Try again in ${retryAfter} seconds.`)
    this.retryAfter = retryAfter
  }
}

/** No room for this request now; trying again later is right (D5.1). */
export class Overloaded extends ServiceError {
  readonly retryAfter: Seconds

  constructor(
    detail: string,
    retryAfter: Seconds = 1,
    code: ErrorCode = 'overloaded',
    options: { readonly cause?: unknown } = {},
  ) {
    super(code, detail, options)
    this.retryAfter = retryAfter
  }
}

/** A server that data is kept on does not answer as it should; `cause` says why, for the log. It may be back in a moment. */
export class StoreUnavailable extends Overloaded {
  /** `store` is what a person may know of it: the database, the files… */
  constructor(
    store: string,
    { cause, retryAfter = 5 }: { readonly cause?: unknown; readonly retryAfter?: Seconds } = {},
  ) {
    super(`${store} cannot be reached at the moment.`, retryAfter, 'store-unavailable', { cause })
  }
}

/** The disk, or the quota of this user on it, has no space left. Deleting is still possible in most cases. */
export class StorageFull extends ServiceError {
  constructor(options: { readonly cause?: unknown } = {}) {
    super('storage-full', 'The disk of the service is full. Nothing was stored.', options)
  }
}

/** The file system of the data folder accepts no writes, for instance after an error of the disk. */
export class StorageReadOnly extends Overloaded {
  constructor(options: { readonly cause?: unknown } = {}) {
    super('The data folder of the service is read-only. Nothing was changed.', 60, 'storage-read-only', options)
  }
}

/** The engine found its own file inconsistent; the operator has to restore the database. */
export class StoreDamaged extends Overloaded {
  constructor(options: { readonly cause?: unknown } = {}) {
    super('The database is damaged. Stop the service and run `stowage fsck`.', 600, 'store-damaged', options)
  }
}

/** The bytes of a stored file are missing, or differ from those that were uploaded. */
export class FileUnreadable extends Overloaded {
  constructor(code: 'file-missing' | 'file-damaged', options: { readonly cause?: unknown } = {}) {
    const what = code === 'file-missing' ? 'missing' : 'damaged'
    super(`The stored bytes of this file are ${what}. The operator can restore them from a backup.`, 600, code, options)
  }
}

/** A start that cannot go on: wrong settings, a folder in use. The command line prints the message and exits with 1. */
export class StartupError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'StartupError'
  }
}
