import { ask, Problem } from './api.ts'
import { part } from './base.ts'
import { pickedFiles, rememberPicked, storePicked } from './picked-files.ts'
import { mediaTypeOf, sendBody } from './send-file.ts'

/** Uploads in pieces, which go on after a broken connection: a client for tus 1.0. */

/** An upload that the service has begun to receive. */
export interface Unfinished {
  readonly uri: string
  readonly context: string
  /** Id of the entry that gets the file. */
  readonly entry: string
  /** Id of the folder that has the entry. */
  readonly list?: string
  readonly fileName?: string
  /** It is joined with others to one file. These pages begin no such upload. */
  readonly partial?: boolean
  /** Bytes of the whole file. */
  readonly length: number
  /** Bytes that the service has. */
  readonly received: number
}

type Place = Pick<Unfinished, 'uri' | 'context' | 'entry'>

/** Bytes of one request; smaller files are sent at once. */
const PIECE = 8 * 2 ** 20
const VERSION = { 'tus-resumable': '1.0.0' }

export const isInPieces = ({ size }: File): boolean => size > PIECE

const pathOf = ({ context, entry, uri }: Place): string =>
  `${part(context)}/uploads/${part(entry)}/${uri.slice(uri.lastIndexOf('/') + 1)}`

/** The latest unfinished uploads of the user, as many as one would look through. @throws {Problem} */
export async function loadUnfinished(): Promise<readonly Unfinished[]> {
  const { items } = await ask<{ readonly items: readonly Unfinished[] }>('auth/uploads?limit=100')
  const known = pickedFiles()
  storePicked(items.flatMap(({ uri }) => known.find(file => file.uri === uri) ?? []))
  return items
}

/** An entry that gets a file. */
interface Receiver {
  readonly context: string
  readonly entry: string
  /** It has been created for the file, and is deleted with the upload. */
  readonly isNew: boolean
}

/** Begins the upload of a file to an entry, which reserves the storage for all of it. @throws {Problem} */
export async function beginUpload({ context, entry, isNew }: Receiver, file: File, name: string): Promise<Unfinished> {
  const begun = await sendBody({
    method: 'POST',
    path: `${part(context)}/uploads/${part(entry)}`,
    headers: {
      ...VERSION,
      'upload-length': String(file.size),
      'upload-metadata': `filename ${inBase64(name)},filetype ${inBase64(mediaTypeOf(file))}${isNew ? ',newentry' : ''}`,
    },
  })
  const uri = begun.getResponseHeader('location') ?? ''
  rememberPicked(uri, file)
  return { uri, context, entry, fileName: name, length: file.size, received: 0 }
}

const inBase64 = (text: string): string => btoa(String.fromCodePoint(...new TextEncoder().encode(text.toWellFormed())))

interface SendingPieces {
  readonly file: File
  readonly signal: AbortSignal
  /** Called with the number of bytes that the service has, or is being sent. */
  readonly onSent: (bytes: number) => void
  /** Called when the connection is broken. The upload goes on by itself. */
  readonly onBroken: (problem: Problem) => void
}

/** Longest time in milliseconds between two attempts. */
const MAX_WAIT = 30_000

/** Sends what the service does not have yet, through any number of broken connections. @throws {Problem} */
export async function sendPieces(upload: Place, sending: SendingPieces): Promise<void> {
  const { file, signal, onBroken } = sending
  for (let wait = 1000; ; wait = Math.min(2 * wait, MAX_WAIT)) {
    try {
      return await sendRest(pathOf(upload), sending, () => (wait = 1000))
    } catch (problem) {
      if (signal.aborted || !(problem instanceof Problem && passes(problem))) throw problem
      // A file that has been changed or deleted meanwhile fails in the same way as the network.
      await file.slice(0, 1).arrayBuffer()
      onBroken(problem)
      await timeOrNetwork(Math.max(wait, (problem.retryAfter ?? 0) * 1000), signal)
    }
  }
}

async function sendRest(path: string, { file, signal, onSent }: SendingPieces, onReceived: () => void): Promise<void> {
  const offsetIn = (request: XMLHttpRequest): number => Number(request.getResponseHeader('upload-offset'))
  let offset = offsetIn(await sendBody({ method: 'GET', path, headers: VERSION, signal }))
  while (offset < file.size) {
    const start = offset
    onSent(start)
    const request = await sendBody({
      method: 'PATCH',
      path,
      headers: { ...VERSION, 'upload-offset': String(start), 'content-type': 'application/offset+octet-stream' },
      body: file.slice(start, start + PIECE),
      signal,
      onSent: bytes => onSent(start + bytes),
    })
    offset = offsetIn(request)
    onReceived()
  }
}

/** Whether a later attempt can succeed. After a wrong offset the service is asked for the right one. */
const passes = ({ status, code }: Problem): boolean =>
  [0, 408, 423, 429, 502, 503, 504].includes(status) || code === 'upload-offset'

/** Resolves after a time in milliseconds, when the network is back, or when the signal aborts. */
function timeOrNetwork(time: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const over = (): void => {
      clearTimeout(timer)
      removeEventListener('online', over)
      signal.removeEventListener('abort', over)
      resolve()
    }
    const timer = setTimeout(over, time)
    addEventListener('online', over)
    signal.addEventListener('abort', over)
  })
}

/** Gives an upload up, and the entry that has been created for it. @throws {Problem} */
export async function giveUp(upload: Place): Promise<void> {
  await sendBody({ method: 'DELETE', path: pathOf(upload), headers: VERSION }).catch(requireGone)
}

function requireGone(problem: unknown): undefined {
  if (!(problem instanceof Problem && (problem.status === 404 || problem.status === 410))) throw problem
}

/** Whether this is the file whose upload is unfinished; an upload begun elsewhere is known only by name and size. */
export function isSameFile({ uri, fileName, length }: Unfinished, file: File): boolean {
  const known = pickedFiles().find(known => known.uri === uri)
  if (file.size !== length) return false
  return known ? known.name === file.name && known.lastModified === file.lastModified : fileName === file.name
}
