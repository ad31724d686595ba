import { address, ofScript, uiPath } from './base.ts'

/** An error response of the service (RFC 9457). Status 0 and code `unreachable` mean that there was no response. */
export class Problem extends Error {
  readonly status: number
  readonly code: string
  /** The other members of the body, for instance `rules` or `limit`. */
  readonly extra: Readonly<Record<string, unknown>>
  /** Seconds to wait before the next attempt. */
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
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly json?: unknown
  /** A body that is sent as it is, instead of `json`. */
  readonly text?: string
  readonly signal?: AbortSignal
  /** The ETag of the state to change: the request fails if the state has changed since. */
  readonly ifMatch?: string | undefined
}

/** A response with the ETag of its state and, for a part of a list, the length of the whole list. */
export interface Tagged<T> {
  readonly value: T
  readonly tag: string | undefined
  readonly total: number | undefined
}

/**
 * Sends a request. If the session has ended, the user signs in again on this page, and the request is sent once more; also
 * after a new proof of who the user is, where a change asks for it.
 * @param path relative to the base address, without a leading slash
 * @returns the parsed JSON, `undefined` for an empty response
 * @throws {Problem}
 */
export async function ask<T = undefined>(path: string, options: Ask = {}): Promise<T> {
  return (await askTagged<T>(path, options)).value
}

/** As {@link ask}, with the ETag that a later change names. @throws {Problem} */
export async function askTagged<T>(path: string, options: Ask = {}): Promise<Tagged<T>> {
  const response = await send(path, options)
  if (response.ok) {
    const total = response.headers.get('x-total-count')
    return {
      value: await readJson<T>(response),
      tag: response.headers.get('etag') ?? undefined,
      total: total === null ? undefined : Number(total),
    }
  }
  const body = (await readJson<Record<string, unknown> | undefined>(response)) ?? {}
  if (response.status === 401 && (await signedInAgain())) return await askTagged<T>(path, options)
  if (body['code'] === 'fresh-sign-in-required' && (await provenAgain())) return await askTagged<T>(path, options)
  throw problemOf(response.status, body, response.headers.get('retry-after'))
}

async function send(path: string, { method = 'GET', json, text, signal, ifMatch }: Ask): Promise<Response> {
  return await fetch(address(path), {
    method,
    // The quota can change without the entry, so a cached response may be wrong.
    cache: 'no-store',
    headers: {
      ...ofScript,
      accept: 'application/json',
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      ...(text === undefined ? {} : { 'content-type': 'text/plain; charset=utf-8' }),
      ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
    },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    ...(text === undefined ? {} : { body: text }),
    ...(signal ? { signal } : {}),
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error
    throw unreachable()
  })
}

export const problemOf = (
  status: number,
  body: Readonly<Record<string, unknown>>,
  retryAfter: string | null,
): Problem => new Problem(status, body, retryAfter === null ? undefined : Number(retryAfter))

async function readJson<T>(response: Response): Promise<T> {
  const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '')
  return (isJson ? await response.json() : undefined) as T
}

/** Asks the user to prove again who they are. Before the page has rendered, nothing asks for it. */
let askForProof: () => Promise<boolean> = async () => false
let proving: Promise<boolean> | undefined

export function onProofWanted(prove: () => Promise<boolean>): void {
  askForProof = prove
}

/** Resolves when the user has proven who they are, or has declined. All requests that wait share one proof. */
async function provenAgain(): Promise<boolean> {
  proving ??= askForProof().finally(() => (proving = undefined))
  return await proving
}

/** Asks the user to sign in again. Until the page knows its user, it can only redirect to the sign-in page. */
let askToSignIn: () => Promise<boolean> = async () => await leaveForSignIn(true)

export function onSessionEnd(signIn: () => Promise<boolean>): void {
  askToSignIn = signIn
}

let asking: Promise<boolean> | undefined
const signIns = new EventTarget()
const SIGN_IN = 'sign-in'

/** Resolves when the user has signed in again. All requests that wait share one sign-in. */
export async function signedInAgain(): Promise<boolean> {
  asking ??= askToSignIn()
    .then(isGood => {
      if (isGood) signIns.dispatchEvent(new Event(SIGN_IN))
      return isGood
    })
    .finally(() => (asking = undefined))
  return await asking
}

/**
 * Calls back when the user has signed in again. Responses fetched since the session ended may be those for
 * guests, so each list fetches again and drops its requests in progress.
 */
export function onSignIn(listener: () => void): () => void {
  signIns.addEventListener(SIGN_IN, listener)
  return () => signIns.removeEventListener(SIGN_IN, listener)
}

/**
 * Redirects to the sign-in page, which returns to this page afterwards. Never resolves, because the page is
 * being left.
 */
export function leaveForSignIn(hasEnded: boolean): Promise<never> {
  const { pathname, search } = location
  const query = new URLSearchParams({ successurl: pathname.startsWith(uiPath) ? pathname + search : uiPath })
  location.assign(address(`auth/login?${query.toString()}${hasEnded ? '&ended' : ''}`))
  return new Promise(() => undefined)
}
