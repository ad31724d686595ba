import { createHash } from 'node:crypto'
import { StartupError } from '../../src/base/errors.ts'
import type { Milliseconds } from '../../src/base/units.ts'

/** For the headers of a response. A long body may take any time: Node.js gives up when it is silent for five minutes. */
const TIMEOUT: Milliseconds = 60_000

export interface Reply {
  readonly status: number
  readonly text: string
}

/** A server with the interface of EntryStore, as one user sees it. */
export class Server {
  /** Ends in a slash. */
  readonly base: string
  readonly #cookie: string

  private constructor(base: string, cookie: string) {
    this.base = base
    this.#cookie = cookie
  }

  /** @throws {StartupError} when the server cannot be reached, or refuses the user */
  static async signIn(address: string, name: string, password: string): Promise<Server> {
    const base = address.endsWith('/') ? address : `${address}/`
    const body = new URLSearchParams({ auth_username: name, auth_password: password })
    const response = await request(`${base}auth/cookie`, { method: 'POST', body, redirect: 'manual' })
    await response.arrayBuffer()
    const cookie = response.headers
      .getSetCookie()
      .map(text => text.split(';')[0] ?? '')
      .find(text => /^(__Host-)?auth_token=/.test(text))
    if (cookie !== undefined) return new Server(base, cookie)
    throw new StartupError(`${base} refuses ${name}: status ${response.status}.`)
  }

  /** @throws {StartupError} when the server cannot be reached, or its response breaks off */
  async get(path: string, accept = 'application/json'): Promise<Reply> {
    const url = this.base + path
    const response = await request(url, { headers: { cookie: this.#cookie, accept }, redirect: 'manual' })
    const text = await response.text().catch((error: unknown) => fail(url, error))
    return { status: response.status, text }
  }

  /** The status, and the SHA-256 of the body, which may be long; `undefined` when it cannot be read to its end. */
  async digest(path: string): Promise<string | undefined> {
    try {
      const response = await request(this.base + path, { headers: { cookie: this.#cookie }, redirect: 'manual' })
      const hash = createHash('sha256')
      for await (const chunk of response.body ?? []) hash.update(chunk as Uint8Array)
      return `${response.status} ${hash.digest('hex')}`
    } catch {
      return undefined
    }
  }
}

async function request(url: string, options: RequestInit): Promise<Response> {
  const headers = new AbortController()
  const timer = setTimeout(() => headers.abort(new Error(`no response within ${TIMEOUT / 1000} seconds`)), TIMEOUT)
  try {
    return await fetch(url, { ...options, signal: headers.signal })
  } catch (error) {
    return fail(url, error)
  } finally {
    clearTimeout(timer)
  }
}

function fail(url: string, error: unknown): never {
  const { cause } = error as { readonly cause?: unknown }
  const reason = cause instanceof Error ? cause.message : error instanceof Error ? error.message : String(error)
  throw new StartupError(`${url} cannot be read: ${reason}.`, { cause: error })
}
