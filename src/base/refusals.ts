import type { ErrorCode } from './error-codes.ts'
import {
  Conflict,
  type ErrorExtra,
  type ErrorOptions,
  Forbidden,
  InvalidInput,
  LockedOut,
  NotAcceptable,
  NotFound,
  NotSupported,
  Overloaded,
  PreconditionFailed,
  ServiceError,
  StorageFull,
  TooLarge,
  TooSlow,
  Unauthenticated,
  UnsupportedType,
  UpstreamFailed,
  UpstreamSilent,
} from './errors.ts'
import type { Seconds } from './units.ts'

/** A refusal as a plain value, because errors lose their class between threads. */
export interface PlainRefusal {
  readonly name: string
  readonly code: ErrorCode
  readonly detail: string
  readonly extra: ErrorExtra
  readonly retryAfter?: Seconds
}

type RefusalClass = new (code: ErrorCode, detail: string, options?: ErrorOptions) => ServiceError

const classes: Readonly<Record<string, RefusalClass>> = {
  Conflict,
  Forbidden,
  InvalidInput,
  NotAcceptable,
  NotFound,
  NotSupported,
  PreconditionFailed,
  TooLarge,
  TooSlow,
  Unauthenticated,
  UnsupportedType,
  UpstreamFailed,
  UpstreamSilent,
}

/**
 * `undefined` for an error that is not a refusal, or one that only the thread that answers the client throws; it is thrown unchanged.
 * A class below {@link Overloaded} arrives as that: its code and its time to wait say what it is.
 */
export function plainRefusal(error: unknown): PlainRefusal | undefined {
  if (!(error instanceof ServiceError)) return undefined
  const { name, code, message: detail, extra } = error
  if (error instanceof Overloaded) return { name: 'Overloaded', code, detail, extra, retryAfter: error.retryAfter }
  if (error instanceof LockedOut) return { name: 'LockedOut', code, detail, extra, retryAfter: error.retryAfter }
  if (error instanceof StorageFull) return { name: 'StorageFull', code, detail, extra }
  return Object.hasOwn(classes, name) ? { name, code, detail, extra } : undefined
}

export function refusalFrom({ name, code, detail, extra, retryAfter }: PlainRefusal): Error {
  if (name === 'Overloaded') return new Overloaded(detail, retryAfter, code)
  if (name === 'LockedOut') return new LockedOut(retryAfter ?? 0)
  if (name === 'StorageFull') return new StorageFull()
  const Refusal = classes[name]
  return Refusal ? new Refusal(code, detail, { extra }) : new Error(detail)
}
