import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Milliseconds } from '../../base/units.ts'

/** Where clamd listens: a TCP port, or a Unix socket. */
export type ClamdAddress = { readonly host: string; readonly port: number } | { readonly path: string }

interface ClamdOptions {
  readonly address: ClamdAddress
  /** How long clamd may neither accept bytes nor reply. */
  readonly timeout: Milliseconds
}

/** What clamd says about bytes. `too-large`: more than its `StreamMaxLength`; it has not scanned them. */
export type ScanResult =
  | { readonly kind: 'clean' }
  | { readonly kind: 'infected'; readonly signature: string }
  | { readonly kind: 'too-large' }

/** clamd gave no result. */
export class ScannerFailure extends Error {
  /** True if clamd kept this call waiting until the timeout, as it may keep the next ones. */
  readonly isTimeout: boolean

  constructor(message: string, { cause }: { readonly cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'ScannerFailure'
    this.isTimeout = cause instanceof Silence
  }
}

class Silence extends Error {}

/** Maximum length of a reply, which is one short line. */
const MAX_REPLY = 4096
/** clamd reads frames of any length; its own client sends frames of this size at most. */
const MAX_FRAME = 2 ** 20

/** The virus scanner ClamAV, reached by the protocol of its daemon (clamd(8)). Each call opens a connection. */
export class Clamd {
  readonly #options: ClamdOptions

  constructor(options: ClamdOptions) {
    this.#options = options
  }

  /** Where clamd listens, for people. */
  get place(): string {
    const { address } = this.#options
    return 'path' in address ? address.path : `${address.host}:${address.port}`
  }

  /** Has the bytes scanned (`INSTREAM`). @throws {ScannerFailure}, and what reading `bytes` throws */
  async scan(bytes: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<ScanResult> {
    return readResult(await this.#ask(framed(bytes), signal))
  }

  /** The version of engine and signatures, such as `ClamAV 1.4.3/27800/Mon Nov 16 …`. @throws {ScannerFailure} */
  async version(): Promise<string> {
    return await this.#ask([Buffer.from('zVERSION\0')])
  }

  /** Sends a command and returns the reply without its end. */
  async #ask(command: Iterable<Uint8Array> | AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<string> {
    const { address, timeout } = this.#options
    signal?.throwIfAborted()
    const socket = connect(address)
    socket.setTimeout(timeout, () => socket.destroy(new Silence(`no reply for ${timeout} ms`)))
    const abort = (): void => void socket.destroy(new Error('aborted'))
    signal?.addEventListener('abort', abort)
    const over = new AbortController()
    const reply = readReply(socket).finally(() => over.abort())
    // It may fail while the bytes are still being sent.
    reply.catch(() => {})
    try {
      // clamd replies before the end of the bytes when they are too large.
      await send(socket, command, over.signal)
      return await reply
    } catch (error) {
      signal?.throwIfAborted()
      if (!over.signal.aborted) throw error
      const reason = error instanceof Error ? error.message : String(error)
      throw new ScannerFailure(`clamd at ${this.place}: ${reason}`, { cause: error })
    } finally {
      signal?.removeEventListener('abort', abort)
      socket.destroy()
    }
  }
}

/** Sends everything unless `over` aborts first. */
async function send(
  socket: Socket,
  parts: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  over: AbortSignal,
): Promise<void> {
  for await (const part of parts) {
    if (over.aborted) return
    if (socket.write(part)) continue
    await once(socket, 'drain', { signal: over }).catch(() => {})
  }
}

/** The text before the first NUL. Rejects when the connection ends without one. */
function readReply(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    let failure = new Error('the connection was closed without a reply')
    socket.setEncoding('utf8')
    socket.on('data', (part: string) => {
      text += part
      const end = text.indexOf('\0')
      if (end >= 0) resolve(text.slice(0, end))
      else if (text.length > MAX_REPLY) socket.destroy(new Error('the reply is not that of clamd'))
    })
    socket.on('error', (error: Error) => (failure = error))
    socket.on('close', () => reject(failure))
  })
}

/** `INSTREAM`: each part behind its length, a part of length 0 at the end. */
async function* framed(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield Buffer.from('zINSTREAM\0')
  for await (const chunk of bytes) {
    for (let at = 0; at < chunk.length; at += MAX_FRAME) {
      const part = chunk.subarray(at, at + MAX_FRAME)
      yield lengthOf(part.length)
      yield part
    }
  }
  yield lengthOf(0)
}

function lengthOf(count: number): Uint8Array {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(count)
  return bytes
}

/** @throws {ScannerFailure} for a reply that is neither a result nor about the size */
function readResult(reply: string): ScanResult {
  if (reply === 'stream: OK') return { kind: 'clean' }
  const signature = /^stream: (.{1,200}) FOUND$/s.exec(reply)?.[1]
  if (signature !== undefined) return { kind: 'infected', signature: signature.replaceAll(/[^!-~]/g, '?') }
  if (/size limit exceeded/i.test(reply)) return { kind: 'too-large' }
  const shown = reply.slice(0, 200).replaceAll(/[^ -~]/g, '?')
  throw new ScannerFailure(`clamd replied: ${shown}`)
}
