import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Dispatcher } from 'undici'
import { outgoingTraceHeaders } from './request-timings.ts'
import type { System } from './system.ts'
import type { Bytes, Milliseconds } from './units.ts'

export interface Fetch {
  readonly url: string
  readonly method?: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly timeout: Milliseconds
  readonly maxBytes: Bytes
  /** False accepts any certificate; for this request only. */
  readonly verifyTls: boolean
}

/** Why a document could not be had; the message names the address and the reason. */
export class FetchFailed extends Error {
  /** The server answered, with more bytes than are accepted. */
  readonly isTooLarge: boolean
  /** Of the response, if that is the reason. */
  readonly status: number | undefined

  constructor(url: string, reason: string, options: { cause?: unknown; isTooLarge?: boolean; status?: number } = {}) {
    super(`${url}: ${reason}`, options)
    this.name = 'FetchFailed'
    this.status = options.status
    this.isTooLarge = options.isTooLarge ?? false
  }
}

/**
 * How far the clock of a server is ahead of ours, by the `Date` of its response; to the second, and only over http(s).
 * `undefined` when the response has no `Date`.
 */
export async function clockOffset(url: string, system: System): Promise<Milliseconds | undefined> {
  if (!/^https?:/i.test(url)) return undefined
  try {
    const { request } = await import('undici')
    const { headers, body } = await request(url, { method: 'HEAD', signal: AbortSignal.timeout(CLOCK_TIMEOUT) })
    await body.dump()
    const date = Date.parse(String(headers['date']))
    // The header has whole seconds, cut off: the true time is half a second later on average.
    return Number.isNaN(date) ? undefined : date + 500 - system.now()
  } catch {
    return undefined
  }
}

const CLOCK_TIMEOUT: Milliseconds = 5000

/** Like {@link fetchText}, and from `file:` addresses as well. @throws {FetchFailed} */
export async function readDocument(wanted: Fetch): Promise<string> {
  if (!wanted.url.startsWith('file:')) return await fetchText(wanted)
  try {
    return decode(wanted.url, await readFile(fileURLToPath(wanted.url)))
  } catch (error) {
    if (error instanceof FetchFailed) throw error
    throw new FetchFailed(wanted.url, (error as Error).message, { cause: error })
  }
}

/**
 * Fetches a document from an address that the operator configured, over https, or over http from this machine
 * only. One attempt, no redirects, with limits on total time and size, status 200 only (D8.6, D9.1).
 * @throws {FetchFailed}
 */
export async function fetchText(wanted: Fetch): Promise<string> {
  const { status, text } = await fetchResponse(wanted)
  if (status !== 200) throw new FetchFailed(wanted.url, `status ${status}`)
  return text
}

export interface FetchedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** Like {@link fetchText}, for protocols in which other status codes have a meaning. @throws {FetchFailed} */
export async function fetchResponse(wanted: Fetch): Promise<FetchedResponse> {
  const { url } = wanted
  const chunks: Uint8Array[] = []
  let head: Head = { statusCode: 0, headers: {} }
  for await (const chunk of bodyOf(wanted, received => (head = received))) chunks.push(chunk)
  const headers = Object.fromEntries(Object.entries(head.headers).map(([name, value]) => [name, String(value)]))
  return { status: head.statusCode, headers, text: decode(url, Buffer.concat(chunks)) }
}

/** The text of a document in UTF-8, or in UTF-16 if it begins with a byte order mark. @throws {FetchFailed} */
function decode(url: string, bytes: Uint8Array): string {
  const [first = 0, second = 0] = bytes
  const encoding = { [0xff_fe]: 'utf-16le', [0xfe_ff]: 'utf-16be' }[first * 256 + second] ?? 'utf-8'
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch (error) {
    throw new FetchFailed(url, `not ${encoding.toUpperCase()}`, { cause: error })
  }
}

/**
 * A large document as it arrives, under the rules of {@link fetchText}; from `file:` addresses as well. What has arrived before an error is
 * worth nothing. @throws {FetchFailed}
 */
export async function* streamDocument(wanted: Fetch): AsyncGenerator<Uint8Array> {
  const { url } = wanted
  yield* bodyOf(wanted, ({ statusCode: status, headers }) => {
    if (status !== 200) throw new FetchFailed(url, `status ${status}`, { status })
    const encoding = String(headers['content-encoding'] ?? 'identity')
    // A small compressed answer can stand for gigabytes. None is asked for.
    if (encoding.toLowerCase() !== 'identity')
      throw new FetchFailed(url, `compressed (${encoding}), which was not asked for`)
  })
}

type Head = Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'>

/** @param onHead is called before the body is read, unless it comes from a `file:` address */
async function* bodyOf(wanted: Fetch, onHead: (head: Head) => void): AsyncGenerator<Uint8Array> {
  const { url, method = 'GET', headers = {}, body = null, timeout, maxBytes, verifyTls } = wanted
  const isFile = url.startsWith('file:')
  if (!isFile) requireSafeAddress(url)
  const trace = outgoingTraceHeaders()
  // Loaded at the first use, because most services fetch nothing. The time that it takes in a new thread is not the fault of the server.
  const { Agent, request } = await import('undici')
  const dispatcher = new Agent({ connect: { rejectUnauthorized: verifyTls, timeout } })
  const signal = AbortSignal.timeout(timeout)
  const open = async (): Promise<AsyncIterable<Uint8Array>> => {
    if (isFile) return createReadStream(fileURLToPath(url), { signal })
    const response = await request(url, { method, headers: { ...headers, ...trace }, body, dispatcher, signal })
    onHead(response)
    return response.body
  }
  let size: Bytes = 0
  try {
    for await (const chunk of await open()) {
      size += chunk.length
      if (size > maxBytes) throw new FetchFailed(url, `more than ${maxBytes} bytes`, { isTooLarge: true })
      yield chunk
    }
  } catch (error) {
    if (error instanceof FetchFailed) throw error
    const reason = signal.aborted ? `no complete answer within ${timeout} ms` : (error as Error).message
    throw new FetchFailed(url, reason, { cause: error })
  } finally {
    await dispatcher.destroy()
  }
}

function requireSafeAddress(url: string): void {
  const { protocol, hostname } = new URL(url)
  if (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))) return
  throw new FetchFailed(url, 'only https, or http from this machine, is fetched')
}

export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host)
