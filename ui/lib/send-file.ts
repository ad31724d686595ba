import { ask, Problem, refused, unreachable } from './api.ts'
import { address, part } from './base.ts'

interface Sending {
  readonly context: string
  readonly file: File
  readonly signal: AbortSignal
  /** Told how many bytes have gone. */
  readonly onSent: (bytes: number) => void
}

/** Makes an entry and puts the file into it; after a refusal, a failure or an abort the entry is gone again. @throws {Problem} */
export async function sendFile({ context, file, signal, onSent }: Sending): Promise<void> {
  // Cut off, it would not tell whether there is an entry by now, and which.
  const { entryId } = await ask<{ readonly entryId: string }>(part(context), { method: 'POST', json: {} })
  try {
    await put(address(`${part(context)}/resource/${part(entryId)}`), file, signal, onSent)
  } catch (error) {
    await ask(`${part(context)}/entry/${part(entryId)}`, { method: 'DELETE' }).catch(() => undefined)
    throw error
  }
}

/** `fetch` cannot tell how far an upload is. */
async function put(url: string, file: File, signal: AbortSignal, onSent: (bytes: number) => void): Promise<void> {
  const request = new XMLHttpRequest()
  const finished = new Promise<void>((resolve, reject) => {
    request.upload.addEventListener('progress', ({ loaded }) => onSent(Math.min(loaded, file.size)))
    request.addEventListener('load', () => resolve())
    request.addEventListener('error', () => reject(unreachable()))
    request.addEventListener('abort', () => reject(new Problem(0, { code: 'cancelled' })))
  })
  request.open('PUT', url)
  request.setRequestHeader('accept', 'application/json')
  request.setRequestHeader('content-type', file.type === '' ? 'application/octet-stream' : file.type)
  request.setRequestHeader('content-disposition', `attachment; filename*=UTF-8''${encodeName(file.name)}`)
  const abort = (): void => request.abort()
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) throw new Problem(0, { code: 'cancelled' })
  request.send(file)
  try {
    await finished
  } finally {
    signal.removeEventListener('abort', abort)
  }
  if (request.status < 300) return
  await refused(request.status, parse(request.responseText), request.getResponseHeader('retry-after'))
}

/** RFC 8187: more is escaped than `encodeURIComponent` does. */
const encodeName = (name: string): string =>
  encodeURIComponent(name.toWellFormed()).replaceAll(/['()*]/g, sign => `%${sign.charCodeAt(0).toString(16)}`)

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return {}
  }
}
