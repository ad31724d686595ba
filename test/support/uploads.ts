import { Readable } from 'node:stream'
import type { OutgoingHttpHeaders } from 'node:http'
import type { Answer, Visitor } from './http-client.ts'

/** Uploads bytes of known length. */
export const putFile = (
  visitor: Visitor,
  path: string,
  body: string | Uint8Array,
  headers: OutgoingHttpHeaders = {},
): Promise<Answer> => visitor.ask(path, { method: 'PUT', body, headers: { 'content-type': 'text/plain', ...headers } })

/** Uploads the same bytes in chunks, without a length. */
export const putChunked = (
  visitor: Visitor,
  path: string,
  chunks: readonly string[],
  headers: OutgoingHttpHeaders = {},
): Promise<Answer> =>
  visitor.ask(path, {
    method: 'PUT',
    body: Readable.from(chunks.map(chunk => Buffer.from(chunk))),
    headers: { 'content-type': 'text/plain', ...headers },
  })

export interface Part {
  readonly name: string
  readonly fileName?: string
  readonly type?: string
  readonly content: string
}

const BOUNDARY = 'xXboundaryXx'

export const multipartHeaders = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }

export const multipartBody = (parts: readonly Part[], end = `--${BOUNDARY}--\r\n`): string =>
  parts
    .map(({ name, fileName, type, content }) =>
      [
        `--${BOUNDARY}`,
        `Content-Disposition: form-data; name="${name}"${fileName === undefined ? '' : `; filename="${fileName}"`}`,
        ...(type === undefined ? [] : [`Content-Type: ${type}`]),
        '',
        content,
        '',
      ].join('\r\n'),
    )
    .join('') + end

export const putForm = (visitor: Visitor, path: string, parts: readonly Part[]): Promise<Answer> =>
  visitor.ask(path, { method: 'PUT', body: multipartBody(parts), headers: multipartHeaders })
