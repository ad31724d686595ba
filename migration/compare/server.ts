import { createHash } from 'node:crypto'
import { StartupError } from '../../src/base/errors.ts'
import type { Milliseconds } from '../../src/base/units.ts'

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

  async get(path: string, accept = 'application/json'): Promise<Reply> {
    const response = await request(this.base + path, { headers: { cookie: this.#cookie, accept }, redirect: 'manual' })
    return { status: response.status, text: await response.text() }
  }

  /** The status, and the SHA-256 of the body, which may be long. */
  async digest(path: string): Promise<string> {
    const response = await request(this.base + path, { headers: { cookie: this.#cookie }, redirect: 'manual' })
    const hash = createHash('sha256')
    for await (const chunk of response.body ?? []) hash.update(chunk as Uint8Array)
    return `${response.status} ${hash.digest('hex')}`
  }
}

async function request(url: string, options: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { ...options, signal: AbortSignal.timeout(TIMEOUT) })
  } catch (error) {
    const { cause } = error as { readonly cause?: unknown }
    const reason = cause instanceof Error ? cause.message : error instanceof Error ? error.message : String(error)
    throw new StartupError(`${new URL(url).origin} cannot be read: ${reason}.`, { cause: error })
  }
}
