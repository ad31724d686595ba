import { address, uiPath } from './base.ts'

/** A refusal of the service (RFC 9457), or that it could not be reached: status 0, code `unreachable`. */
export class Problem extends Error {
  readonly status: number
  readonly code: string
  /** The other members of the body, for instance `rules` or `limit`. */
  readonly extra: Readonly<Record<string, unknown>>
  /** Whole seconds until trying again makes sense. */
  readonly retryAfter: number | undefined

  constructor(status: number, body: Readonly<Record<string, unknown>>, retryAfter?: number) {
    super(textOf(body['detail']))
    this.status = status
    this.code = textOf(body['code'])
    this.extra = body
    this.retryAfter = retryAfter
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

export const unreachable = (): Problem => new Problem(0, { code: 'unreachable' })

interface Ask {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly json?: unknown
  readonly signal?: AbortSignal
  /** The tag of what is to be changed: refused if somebody else has changed it since. */
  readonly ifMatch?: string | undefined
}

/** An answer together with the tag of its state. */
export interface Tagged<T> {
  readonly value: T
  readonly tag: string | undefined
}

/**
 * Asks the service.
 * @param path relative to the base address, without a leading slash
 * @returns the JSON of the answer, `undefined` where there is none. Never, when the session is over: then the sign-in page comes.
 * @throws {Problem}
 */
export async function ask<T = undefined>(path: string, options: Ask = {}): Promise<T> {
  return (await askTagged<T>(path, options)).value
}

/** The same, for what is to be read, changed and written back. @throws {Problem} */
export async function askTagged<T>(path: string, options: Ask = {}): Promise<Tagged<T>> {
  const { method = 'GET', json, signal, ifMatch } = options
  const response = await fetch(address(path), {
    method,
    // A quota changes without the entry that tells it, so a kept answer may be wrong.
    cache: 'no-store',
    headers: {
      accept: 'application/json',
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
    },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    ...(signal ? { signal } : {}),
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error
    throw unreachable()
  })
  if (response.ok) return { value: await readJson<T>(response), tag: response.headers.get('etag') ?? undefined }
  const body = await readJson<Record<string, unknown> | undefined>(response)
  return await refused(response.status, body ?? {}, response.headers.get('retry-after'))
}

/** Nobody is signed in any more, which ends the page; all else is for the caller to tell. @throws {Problem} */
export async function refused(
  status: number,
  body: Readonly<Record<string, unknown>>,
  retryAfter: string | null,
): Promise<never> {
  if (status === 401) return await leaveForSignIn(true)
  throw new Problem(status, body, retryAfter === null ? undefined : Number(retryAfter))
}

async function readJson<T>(response: Response): Promise<T> {
  const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '')
  return (isJson ? await response.json() : undefined) as T
}

/** Goes to the sign-in page, from where it comes back to this one. Resolves never: this page is over. */
export function leaveForSignIn(hasEnded: boolean): Promise<never> {
  const { pathname, search } = location
  const query = new URLSearchParams({ successurl: pathname.startsWith(uiPath) ? pathname + search : uiPath })
  location.assign(address(`auth/login?${query.toString()}${hasEnded ? '&ended' : ''}`))
  return new Promise(() => undefined)
}
