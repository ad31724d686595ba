import assert from 'node:assert/strict'
import type { OutgoingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Answer, Visitor } from './http-client.ts'

/** What each request of tus 1.0 carries. */
export const TUS = { 'tus-resumable': '1.0.0' }
/** A request of tus 1.0 with bytes. */
export const PIECE = { ...TUS, 'content-type': 'application/offset+octet-stream' }

export const base64 = (text: string | Uint8Array): string => Buffer.from(text).toString('base64')

/** Creates an upload to an entry, given as `context/id`. */
export const createUpload = (
  visitor: Visitor,
  entry: string,
  { body, ...headers }: OutgoingHttpHeaders & { readonly body?: string } = {},
): Promise<Answer> =>
  visitor.ask(entry.replace('/', '/uploads/'), { method: 'POST', body, headers: { ...TUS, ...headers } })

/** The path of an upload that has been created. */
export function uploadPath(visitor: Visitor, answer: Answer): string {
  assert.equal(answer.status, 201, answer.text)
  return String(answer.headers['location']).slice(visitor.base.length)
}

/** Creates an upload to an entry, given as `context/id`, and returns its path. */
export const newUpload = async (
  visitor: Visitor,
  entry: string,
  length: number,
  headers: OutgoingHttpHeaders = {},
): Promise<string> =>
  uploadPath(visitor, await createUpload(visitor, entry, { 'upload-length': String(length), ...headers }))

/** The entry is of no use without the file. */
export const NEW_ENTRY = { 'upload-metadata': 'newentry' }
export const PART = { 'upload-concat': 'partial' }

/** Makes one file of parts, given by their paths. */
export const joinParts = (visitor: Visitor, entry: string, parts: readonly string[]): Promise<Answer> =>
  createUpload(visitor, entry, { 'upload-concat': `final;${parts.map(part => visitor.base + part).join(' ')}` })

export const giveUp = (visitor: Visitor, path: string): Promise<Answer> =>
  visitor.ask(path, { method: 'DELETE', headers: TUS })

export const sendBytes = (
  visitor: Visitor,
  path: string,
  offset: number,
  body: string | Uint8Array | Readable,
  headers: OutgoingHttpHeaders = {},
): Promise<Answer> =>
  visitor.ask(path, { method: 'PATCH', body, headers: { ...PIECE, 'upload-offset': String(offset), ...headers } })

export const headOf = (visitor: Visitor, path: string): Promise<Answer> =>
  visitor.ask(path, { method: 'HEAD', headers: TUS })
