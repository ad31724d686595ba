import type { ErrorCode } from '../../base/error-codes.ts'
import type { RefusalStatus, RouteDefinition } from './route.ts'

type Described = Pick<RouteDefinition, 'url' | 'htmlErrors'> & {
  readonly description: NonNullable<RouteDefinition['description']>
}

/**
 * The error responses of an operation by status: the declared ones, and those that follow from the rest of
 * its declaration.
 */
export function refusalsOf({ description }: Described): ReadonlyMap<RefusalStatus, readonly ErrorCode[]> {
  const { refusals = {}, requires, body, query, conditional } = description
  const found = new Map<RefusalStatus, readonly ErrorCode[]>()
  const add = (status: RefusalStatus, codes: readonly ErrorCode[]): void => {
    found.set(status, [...new Set([...(found.get(status) ?? []), ...codes])])
  }
  if (requires) add(401, ['not-signed-in'])
  if (requires?.role === 'admin') add(403, ['not-allowed'])
  if (query) add(400, ['invalid-query'])
  if (body?.types.includes('application/json')) add(400, ['invalid-json'])
  if (body?.types.includes('application/x-www-form-urlencoded')) add(400, ['invalid-form'])
  if (body) {
    add(413, ['body-too-large'])
    add(415, ['unsupported-type'])
  }
  if (body?.types.includes('text/turtle')) add(413, ['graph-too-large'])
  if (conditional) add(412, ['precondition-failed'])
  for (const [status, codes] of Object.entries(refusals)) add(Number(status) as RefusalStatus, codes)
  return new Map([...found].sort(([a], [b]) => a - b))
}

/**
 * The media types of error responses: pages for addresses that people visit, and for operations that return
 * only pages.
 */
export function refusalTypes({ htmlErrors, description }: Described): readonly string[] {
  const problem = 'application/problem+json'
  return htmlErrors || description.refusedAs !== undefined ? [problem, 'text/html'] : [problem]
}

/** The permitted callers, as a part of a sentence; `undefined`: all callers. */
export const accessOf = ({ access, requires }: Described['description']): string | undefined =>
  access ?? (requires && (requires.role === 'admin' ? 'admins' : 'those who are signed in'))
