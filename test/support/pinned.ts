import assert from 'node:assert/strict'
import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http'
import type { Service } from './service.ts'

export interface PinnedAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The `auth_token` that was set, if any. */
  readonly cookie: string | undefined
}

export interface PinnedRequest {
  readonly method?: string
  readonly cookie?: string | undefined
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string
}

/** A connection that stays open, so that one thread of the service answers everything that comes by it. */
export class Pinned {
  readonly #base: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })

  constructor(base: string) {
    this.#base = base
  }

  ask(path: string, { method = 'GET', cookie, headers = {}, body = '' }: PinnedRequest = {}): Promise<PinnedAnswer> {
    return new Promise((resolve, reject) => {
      const sent = request(this.#base + path, {
        method,
        agent: this.#agent,
        headers: {
          ...headers,
          ...(cookie === undefined ? {} : { cookie: `auth_token=${cookie}` }),
          'content-length': Buffer.byteLength(body),
        },
      })
      sent.on('error', reject)
      sent.on('response', response => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        response.on('end', () => {
          const set = /^auth_token=([^;]+)/.exec((response.headers['set-cookie'] ?? []).join('\n'))?.[1]
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, cookie: set })
        })
      })
      sent.end(body)
    })
  }

  async signIn(name: string, password: string): Promise<PinnedAnswer> {
    return await this.ask('auth/cookie', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ auth_username: name, auth_password: password }).toString(),
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

const MAX_TRIES = 2000

/** One connection to each of the threads; they are told apart by how their request ids begin. */
export async function pinToEach(service: Service, threads: number): Promise<readonly Pinned[]> {
  const found = new Map<string, Pinned>()
  for (let tries = 0; found.size < threads; tries++) {
    assert.ok(tries < MAX_TRIES, `${found.size} of ${threads} threads accept connections`)
    // Several at once, so that the thread that is quickest does not get them all.
    const some = Array.from({ length: 8 }, () => new Pinned(service.base))
    await Promise.all(
      some.map(async one => {
        const { headers } = await one.ask('management/status')
        const thread = String(headers['x-request-id']).split('-')[0] ?? ''
        if (found.has(thread)) one.close()
        else found.set(thread, one)
      }),
    )
  }
  return [...found.values()]
}
