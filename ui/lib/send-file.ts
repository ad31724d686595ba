import { Problem, problemOf, signedInAgain, unreachable } from './api.ts'
import { address, ofScript } from './base.ts'

interface Sending {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Relative to the base address. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Blob
  readonly signal?: AbortSignal
  /** Called with the number of bytes of the body sent so far. */
  readonly onSent?: (bytes: number) => void
}

interface SendingFile extends Pick<Sending, 'path' | 'signal' | 'onSent'> {
  readonly method: 'POST' | 'PUT'
  readonly file: File
  readonly name: string
}

/**
 * Sends a file as the body of a request, so that an entry is created together with its file or not at all. Resolves to the JSON of
 * the response. @throws {Problem}
 */
export async function sendFile({ file, name, ...sending }: SendingFile): Promise<Record<string, unknown>> {
  const headers = {
    'content-type': mediaTypeOf(file),
    'content-disposition': `attachment; filename*=UTF-8''${encodeName(name)}`,
  }
  return parse((await sendBody({ ...sending, headers, body: file })).responseText)
}

export const mediaTypeOf = ({ type }: File): string => (type === '' ? 'application/octet-stream' : type)

/** Sends bytes; if the session has ended, once more after a new sign-in. @throws {Problem} */
export async function sendBody(sending: Sending): Promise<XMLHttpRequest> {
  const request = await send(sending)
  if (request.status < 300) return request
  if (request.status === 401 && (await signedInAgain())) return await sendBody(sending)
  throw problemOf(request.status, parse(request.responseText), request.getResponseHeader('retry-after'))
}

const cancelled = (): Problem => new Problem(0, { code: 'cancelled' })

/** XMLHttpRequest, because `fetch` does not report the progress of an upload. */
async function send({ method, path, headers, body, signal, onSent }: Sending): Promise<XMLHttpRequest> {
  const request = new XMLHttpRequest()
  const finished = new Promise<void>((resolve, reject) => {
    if (body && onSent) request.upload.addEventListener('progress', ({ loaded }) => onSent(Math.min(loaded, body.size)))
    request.addEventListener('load', () => resolve())
    request.addEventListener('error', () => reject(unreachable()))
    request.addEventListener('abort', () => reject(cancelled()))
  })
  request.open(method, address(path))
  for (const [name, value] of Object.entries({ ...ofScript, accept: 'application/json', ...headers }))
    request.setRequestHeader(name, value)
  if (signal?.aborted === true) throw cancelled()
  const abort = (): void => request.abort()
  signal?.addEventListener('abort', abort, { once: true })
  request.send(body)
  try {
    await finished
  } finally {
    signal?.removeEventListener('abort', abort)
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
