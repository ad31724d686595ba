import { request as httpRequest, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import { Readable } from 'node:stream'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { requireDescribed } from './interface-check.ts'
import { aged } from './redis-age.ts'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** As they came over the wire. */
  readonly bytes: Buffer
  readonly text: string
  /** The parsed body; throws when it is not JSON. */
  json<T = Record<string, unknown>>(): T
}

export interface Ask {
  readonly method?: string
  readonly headers?: OutgoingHttpHeaders
  /** A stream is sent chunked unless `Content-Length` is among the headers. */
  readonly body?: string | Uint8Array | Readable | undefined
  /** Sent as `application/json`. */
  readonly json?: unknown
  /** Sent as a form. */
  readonly form?: Readonly<Record<string, string>> | undefined
  /** From where the connection is made, and by what TLS. */
  readonly connection?: RequestOptions
}

/** One request over a connection of its own, without the conveniences of `fetch` that hide what goes over the wire. */
export async function ask(url: string, options: Ask = {}): Promise<Answer> {
  await aged()
  const { headers = {}, body, json, form, connection } = options
  const payload =
    json !== undefined ? JSON.stringify(json) : form ? new URLSearchParams(form).toString() : (body ?? undefined)
  const type = json !== undefined ? 'application/json' : form ? 'application/x-www-form-urlencoded' : undefined
  const length = typeof payload === 'string' || payload instanceof Uint8Array ? Buffer.byteLength(payload) : undefined
  return await new Promise((resolve, reject) => {
    const request = (url.startsWith('https:') ? httpsRequest : httpRequest)(url, {
      ...connection,
      method: methodOf(options),
      agent: false,
      headers: {
        ...(type === undefined ? {} : { 'content-type': type }),
        ...(length === undefined ? {} : { 'content-length': length }),
        ...headers,
      },
    })
    request.on('error', reject)
    request.on('response', response => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const bytes = Buffer.concat(chunks)
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          bytes,
          text: decoded(bytes, response.headers['content-encoding']),
          json: <T>() => JSON.parse(decoded(bytes, response.headers['content-encoding'])) as T,
        })
      })
    })
    if (payload instanceof Readable) payload.pipe(request)
    else request.end(payload)
  })
}

/** The body as text, whatever its coding. */
const decoded = (bytes: Buffer, coding: string | undefined): string =>
  (coding === 'br' ? brotliDecompressSync(bytes) : coding === 'gzip' ? gunzipSync(bytes) : bytes).toString('utf8')

const methodOf = ({ method, body, json, form }: Ask): string =>
  method ?? (body === undefined && json === undefined && form === undefined ? 'GET' : 'POST')

/** As a program that reads JSON and text. Without it graphs come as RDF/XML. */
const ACCEPTED = 'text/plain, application/json, application/problem+json'

/**
 * Somebody at a service: keeps the cookie as a browser would, one name, the last value wins. Every answer is held against the
 * description of the interface.
 */
export class Visitor {
  readonly base: string
  readonly connection: RequestOptions
  cookie: string | undefined

  constructor(base: string, connection: RequestOptions = {}) {
    this.base = base
    this.connection = connection
  }

  /** @param path relative to the base address, without a leading slash */
  async ask(path: string, options: Ask = {}): Promise<Answer> {
    const cookie = this.cookie === undefined ? {} : { cookie: `auth_token=${this.cookie}` }
    const headers = { ...cookie, accept: ACCEPTED, ...options.headers }
    const answer = await ask(this.base + path, { connection: this.connection, ...options, headers })
    requireDescribed(methodOf(options), `/${path}`, answer)
    for (const line of answer.headers['set-cookie'] ?? []) {
      const value = /^auth_token=([^;]*)/.exec(line)?.[1]
      if (value !== undefined) this.cookie = value === '' ? undefined : value
    }
    return answer
  }

  get(path: string, headers: OutgoingHttpHeaders = {}): Promise<Answer> {
    return this.ask(path, { headers })
  }

  post(path: string, json?: unknown): Promise<Answer> {
    return this.ask(path, { method: 'POST', json })
  }

  put(path: string, json: unknown): Promise<Answer> {
    return this.ask(path, { method: 'PUT', json })
  }

  delete(path: string): Promise<Answer> {
    return this.ask(path, { method: 'DELETE' })
  }

  signIn(name: string, password: string, extra: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.ask('auth/cookie', { form: { auth_username: name, auth_password: password, ...extra } })
  }
}
