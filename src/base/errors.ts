import type { ErrorCode } from './error-codes.ts'
import type { Seconds } from './units.ts'

/** Members of an error body in addition to the standard ones, for instance `quota` and `fillLevel` (D7.4). */
export type ErrorExtra = Readonly<Record<string, string | number | readonly string[]>>

export interface ErrorOptions {
  readonly extra?: ErrorExtra
  readonly cause?: unknown
}

/**
 * A refusal of a request. `code` is stable and determines the status; `detail` tells people what was wrong.
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

/** The request itself is wrong: its syntax, a range, its structure. */
export class InvalidInput extends ServiceError {}
/** The request needs a user, and the caller is not signed in. */
export class Unauthenticated extends ServiceError {}
/** The signed-in user lacks the right. */
export class Forbidden extends ServiceError {}
export class NotFound extends ServiceError {}
export class NotAcceptable extends ServiceError {}
/** The body stopped arriving, or arrived too slowly. */
export class TooSlow extends ServiceError {}
export class Conflict extends ServiceError {}
export class PreconditionFailed extends ServiceError {}
/** The resource existed and has been given up. */
export class Gone extends ServiceError {}
/** The bytes of an upload have another checksum than its sender says (tus 1.0, extension Checksum). */
export class ChecksumMismatch extends ServiceError {}
/** Another request is working on it. */
export class Locked extends ServiceError {}
export class TooLarge extends ServiceError {}
export class UnsupportedType extends ServiceError {}
export class NotSupported extends ServiceError {}

/** Another server, asked on behalf of the caller, returned an unusable response. */
export class UpstreamFailed extends ServiceError {}
/** Another server, asked on behalf of the caller, did not respond in time. */
export class UpstreamSilent extends ServiceError {}

/** The address exists, but not with this method; `allowed` becomes the `Allow` header. */
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

/** No capacity for this request now; the client can try again later (D5.1). */
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

/**
 * A server that holds data does not respond as expected; `cause` has the reason, for the log. The state may
 * be temporary.
 */
export class StoreUnavailable extends Overloaded {
  /** `store` is the public name of what is unavailable: the database, the files… */
  constructor(
    store: string,
    { cause, retryAfter = 5 }: { readonly cause?: unknown; readonly retryAfter?: Seconds } = {},
  ) {
    super(`${store} cannot be reached at the moment.`, retryAfter, 'store-unavailable', { cause })
  }
}

/** The database ended a statement that took too long. */
export class StatementTimeout extends StoreUnavailable {}

/** The disk, or this user's disk quota, has no space left. Deleting still works in most cases. */
export class StorageFull extends ServiceError {
  constructor(options: { readonly cause?: unknown } = {}) {
    super('storage-full', 'The disk of the service is full. Nothing was stored.', options)
  }
}

/** The file system of the data folder rejects writes, for instance after a disk error. */
export class StorageReadOnly extends Overloaded {
  constructor(
    options: { readonly cause?: unknown } = {},
    detail = 'The data folder of the service is read-only. Nothing was changed.',
  ) {
    super(detail, 60, 'storage-read-only', options)
  }
}

/** The user that the service runs as may not use a file or folder in the data folder. */
export class StorageForbidden extends StorageReadOnly {
  constructor(options: { readonly cause?: unknown } = {}) {
    super(
      options,
      'The service has no permission for a part of its data folder, which `stowage doctor` names. Nothing was changed.',
    )
  }
}

/** The database found its own file inconsistent; the operator must restore the database. */
export class StoreDamaged extends Overloaded {
  /** Describes what the operator does. */
  static readonly page = 'docs/how-to/troubleshooting.md#the-database-is-damaged'

  constructor(options: { readonly cause?: unknown } = {}) {
    super(
      `The database is damaged. The operator must stop the service and follow ${StoreDamaged.page}.`,
      600,
      'store-damaged',
      options,
    )
  }
}

/** The bytes of a stored file are missing, or differ from the uploaded ones. */
export class FileUnreadable extends Overloaded {
  constructor(code: 'file-missing' | 'file-damaged', options: { readonly cause?: unknown } = {}) {
    const what = code === 'file-missing' ? 'missing' : 'damaged'
    super(`The stored bytes of this file are ${what}. The operator can restore them from a backup.`, 600, code, options)
  }
}

/**
 * The program cannot start: a folder in use, a server that does not respond. The command line prints the message and exits with 1.
 */
export class StartupError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'StartupError'
  }
}

/** Another start fails as well until an operator acts, so `serve` exits with 78, and systemd does not start it again. */
export class LastingFailure extends StartupError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'LastingFailure'
  }
}

/** The settings, or the files that they name, are wrong. */
export class SettingsError extends LastingFailure {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'SettingsError'
  }
}

/** There is no store in the place that the settings name. */
export class NoStore extends StartupError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'NoStore'
  }
}
