import { Problem, problemOf, signedInAgain, unreachable } from './api.ts'
import { address } from './base.ts'

interface Sending {
  readonly method: 'POST' | 'PUT'
  /** Relative to the base address. */
  readonly path: string
  readonly file: File
  readonly name: string
  readonly signal: AbortSignal
  /** Called with the number of bytes sent so far. */
  readonly onSent: (bytes: number) => void
}

/**
 * Sends a file as the body of a request, so that an entry is created together with its file or not at all.
 * @returns the parsed JSON, `undefined` for an empty response
 * @throws {Problem}
 */
export async function sendFile(sending: Sending): Promise<Readonly<Record<string, unknown>>> {
  const request = await send(sending)
  if (request.status < 300) return parse(request.responseText)
  if (request.status === 401 && (await signedInAgain())) return await sendFile(sending)
  throw problemOf(request.status, parse(request.responseText), request.getResponseHeader('retry-after'))
}

const cancelled = (): Problem => new Problem(0, { code: 'cancelled' })

/** XMLHttpRequest, because `fetch` does not report the progress of an upload. */
async function send({ method, path, file, name, signal, onSent }: Sending): Promise<XMLHttpRequest> {
  const request = new XMLHttpRequest()
  const finished = new Promise<void>((resolve, reject) => {
    request.upload.addEventListener('progress', ({ loaded }) => onSent(Math.min(loaded, file.size)))
    request.addEventListener('load', () => resolve())
    request.addEventListener('error', () => reject(unreachable()))
    request.addEventListener('abort', () => reject(cancelled()))
  })
  request.open(method, address(path))
  request.setRequestHeader('accept', 'application/json')
  request.setRequestHeader('content-type', file.type === '' ? 'application/octet-stream' : file.type)
  request.setRequestHeader('content-disposition', `attachment; filename*=UTF-8''${encodeName(name)}`)
  const abort = (): void => request.abort()
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) throw cancelled()
  request.send(file)
  try {
    await finished
  } finally {
    signal.removeEventListener('abort', abort)
  }
  return request
}

/** Encodes a file name by RFC 8187, which escapes more characters than `encodeURIComponent`. */
const encodeName = (name: string): string =>
  encodeURIComponent(name.toWellFormed()).replaceAll(/['()*]/g, sign => `%${sign.charCodeAt(0).toString(16)}`)

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return {}
  }
}
