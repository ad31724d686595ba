import { once } from 'node:events'
import { Agent as HttpAgent, type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { Milliseconds } from '../../base/units.ts'

/** How a client connects to the server. */
export interface ConnectionOptions {
  /** The address of this machine to connect from. */
  readonly from?: string | undefined
  /** The address to connect to, instead of that which the name of the host resolves to. */
  readonly connectTo?: string | undefined
  /** A certificate to trust, besides those of `NODE_EXTRA_CA_CERTS`. */
  readonly ca?: string | undefined
}

export interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string
  readonly json?: unknown
  readonly form?: Readonly<Record<string, string>>
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  readonly text: string
  /** @throws {SyntaxError} */
  json<T>(): T
  /** The address of this machine on the connection. */
  readonly localAddress: string
  /** The address of the server, or of its proxy, on the connection. */
  readonly remoteAddress: string
}

/** An answer should be there after this time. */
const TIMEOUT: Milliseconds = 60_000
export const COOKIE = 'auth_token'

/** Options of a socket that is opened without a request. */
export const socketOptions = ({ from, ca }: ConnectionOptions) => ({
  ...(from === undefined ? {} : { localAddress: from }),
  ...(ca === undefined ? {} : { ca }),
})

/** Options of a request. */
function requestOptions({ connectTo, ...options }: ConnectionOptions) {
  const lookup: LookupFunction = (_name, { all }, done) => {
    const address = connectTo ?? ''
    if (all) done(null, [{ address, family: isIP(address) }])
    else done(null, address, isIP(address))
  }
  return { ...socketOptions(options), ...(connectTo === undefined ? {} : { lookup }) }
}

/** Sends requests to one address of the service, as one user. A path is sent as it is written. */
export class Client {
  readonly base: URL
  readonly connection: ConnectionOptions
  /** The value of the session cookie. */
  session: string | undefined
  /** An access token. */
  token: string | undefined
  readonly #agent: HttpAgent | HttpsAgent

  constructor(base: URL, connection: ConnectionOptions) {
    this.base = base
    this.connection = connection
    const options = { keepAlive: true, maxSockets: 64 }
    this.#agent = base.protocol === 'https:' ? new HttpsAgent(options) : new HttpAgent(options)
  }

  /** Another client of the same address, not signed in. */
  guest(): Client {
    return new Client(this.base, this.connection)
  }

  /** Another client of the same address, with this session. */
  withSession(session: string | undefined): Client {
    const client = this.guest()
    client.session = session
    return client
  }

  /** Another client of the same address and user, with its own connections. */
  twin(): Client {
    const client = this.withSession(this.session)
    client.token = this.token
    return client
  }

  /** Another client of the same user, at another address, such as that of one node. */
  at(base: URL): Client {
    const client = new Client(base, { ...this.connection, connectTo: undefined })
    client.session = this.session
    client.token = this.token
    return client
  }

  close(): void {
    this.#agent.destroy()
  }

  /** The absolute address of a path of the interface, as the service writes it. */
  address(path: string): string {
    return this.base.href + path
  }

  /** Begins a request; the caller sends its body. @param path below the base address, or absolute if it begins with a slash */
  begin(path: string, { method = 'GET', headers = {} }: Sent = {}) {
    const secure = this.base.protocol === 'https:'
    const identity = {
      ...(this.session === undefined ? {} : { cookie: `${COOKIE}=${this.session}` }),
      ...(this.token === undefined ? {} : { authorization: `Bearer ${this.token}` }),
    }
    return (secure ? requestHttps : requestHttp)({
      host: this.base.hostname.replace(/^\[|\]$/g, ''),
      port: this.base.port,
      path: path.startsWith('/') ? path : this.base.pathname + path,
      method,
      headers: { accept: 'application/json', ...identity, ...headers },
      agent: this.#agent,
      ...(secure && isIP(this.base.hostname) === 0 ? { servername: this.base.hostname } : {}),
      ...requestOptions(this.connection),
      signal: AbortSignal.timeout(TIMEOUT),
    })
  }

  /** @throws {Error} when there is no answer */
  async ask(path: string, { method, headers = {}, body, json, form }: Sent = {}): Promise<Answer> {
    const content =
      json !== undefined ? JSON.stringify(json) : form !== undefined ? new URLSearchParams(form).toString() : body
    const type =
      json !== undefined ? 'application/json' : form !== undefined ? 'application/x-www-form-urlencoded' : undefined
    const send = async (): Promise<Answer> => {
      const sent = this.begin(path, {
        method: method ?? (content === undefined ? 'GET' : 'POST'),
        headers: {
          ...(content === undefined ? {} : { 'content-length': String(Buffer.byteLength(content)) }),
          ...(type === undefined ? {} : { 'content-type': type }),
          ...headers,
        },
      })
      const answer = answerOf(sent)
      sent.end(content)
      return await answer.catch(async (error: unknown) => {
        // The server has closed an idle connection while the request was on its way.
        if (sent.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET') return await send()
        throw error
      })
    }
    return await send()
  }

  /** Signs in by the form. @throws {Error} when it is refused */
  async signIn(name: string, password: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const answer = await this.ask('auth/cookie', { form: { auth_username: name, auth_password: password }, headers })
    if (answer.status === 200) this.session = sessionIn(answer)
    return answer
  }
}

/** Waits for the whole answer to a request. */
export async function answerOf(sent: ReturnType<Client['begin']>): Promise<Answer> {
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  // They are gone when the connection has been closed.
  const { localAddress = '', remoteAddress = '' } = response.socket
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  const bytes = Buffer.concat(chunks)
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    bytes,
    text: bytes.toString(),
    json: <T>() => JSON.parse(bytes.toString()) as T,
    localAddress,
    remoteAddress,
  }
}

/** The number of bytes of a response that arrive before it ends or its connection is closed. */
export async function receivedLength(response: IncomingMessage): Promise<number> {
  let length = 0
  try {
    for await (const chunk of response) length += (chunk as Buffer).length
  } catch {
    // The length says how far it came.
  }
  return length
}

export const cookiesOf = ({ headers }: Pick<Answer, 'headers'>): readonly string[] => headers['set-cookie'] ?? []

export const sessionIn = (answer: Pick<Answer, 'headers'>): string | undefined =>
  cookiesOf(answer).flatMap(cookie => new RegExp(`^${COOKIE}="?([^;"]+)`).exec(cookie)?.[1] ?? [])[0]

/** The stable code of a refusal by the service; `undefined` for an answer that is not its own. */
export function codeOf({ headers, text }: Answer): string | undefined {
  if (!/^application\/(?:problem\+)?json/.test(String(headers['content-type']))) return undefined
  try {
    const { code } = JSON.parse(text) as { readonly code?: unknown }
    return typeof code === 'string' ? code : undefined
  } catch {
    return undefined
  }
}

/** An answer in a few words. */
export const tell = (answer: Answer): string => {
  const code = codeOf(answer)
  return `${answer.status}${code === undefined ? '' : ` ${code}`}`
}
