import type { ErrorCode } from '../base/error-codes.ts'
import {
  Conflict,
  type ErrorExtra,
  type ErrorOptions,
  Forbidden,
  InvalidInput,
  NotAcceptable,
  NotFound,
  NotSupported,
  Overloaded,
  ServiceError,
  TooLarge,
  Unauthenticated,
  UnsupportedType,
} from '../base/errors.ts'
import type { Seconds } from '../base/units.ts'

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
  TooLarge,
  Unauthenticated,
  UnsupportedType,
}

/** `undefined` for an error that is not a refusal; it is thrown unchanged. */
export function plainRefusal(error: unknown): PlainRefusal | undefined {
  if (error instanceof Overloaded) {
    const { name, code, message: detail, extra, retryAfter } = error
    return { name, code, detail, extra, retryAfter }
  }
  if (!(error instanceof ServiceError) || !Object.hasOwn(classes, error.name)) return undefined
  return { name: error.name, code: error.code, detail: error.message, extra: error.extra }
}

export function refusalFrom({ name, code, detail, extra, retryAfter }: PlainRefusal): Error {
  if (retryAfter !== undefined) return new Overloaded(detail, retryAfter, code)
  const Refusal = classes[name]
  return Refusal ? new Refusal(code, detail, { extra }) : new Error(detail)
}
