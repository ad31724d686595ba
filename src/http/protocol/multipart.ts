import { Busboy, type BusboyEvents, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy'
import type { IncomingMessage } from 'node:http'
import { PassThrough, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { InvalidInput } from '../../base/errors.ts'
import type { Bytes } from '../../base/units.ts'

/**
 * Must exceed one socket read: if a part ends in the chunk that fills the parser's buffer, the parser never asks for more data and waits
 * for ever.
 */
const PIECE: Bytes = 262_144

/** Each part costs as much as a hundred bytes or so; forms of browsers have a few. */
const MAX_PARTS = 200

/** A part of a form that contains a file. */
interface FilePart {
  readonly fileName: string | undefined
  readonly mediaType: string
  readonly bytes: AsyncIterable<Uint8Array>
}

/**
 * Finds the first file in a multipart body. Parts before it are skipped (D7.6), parts after it are read and
 * dropped. The reader of `bytes` must watch the size; nothing is truncated silently.
 * @throws {InvalidInput} when the body is malformed or ends early, or contains no file
 */
export async function firstFile(request: IncomingMessage, body: AsyncIterable<Uint8Array>): Promise<FilePart> {
  const parser = openParser(request)
  return await new Promise<FilePart>((resolve, reject) => {
    let bytes: PassThrough | undefined
    const fail = (error: unknown): void => {
      const refusal = asRefusal(error)
      bytes?.destroy(refusal as Error)
      reject(refusal)
    }
    const stop = new AbortController()
    const onFile: BusboyEvents['file'] = (_field, part, fileName, _encoding, mediaType) => {
      if (bytes) {
        part.resume()
        return
      }
      const file = new PassThrough()
      bytes = file
      // A reader that stops early needs no more of the body either.
      file.once('close', () => stop.abort())
      // The part may have ended only because the body was interrupted. The reader must see that as a failure,
      // so the end of the part is passed on only after the whole body has been parsed.
      part.on('error', fail)
      part.pipe(file, { end: false })
      // A name in UTF-16 may contain half a surrogate pair, which no header can represent.
      const name = fileName?.toWellFormed()
      resolve({ fileName: name === '' ? undefined : name, mediaType, bytes: file })
    }
    parser.on('file', onFile)
    parser.on('partsLimit', () => {
      fail(new InvalidInput('invalid-form', `The form has more than ${MAX_PARTS} parts.`))
      stop.abort()
    })
    const form = withoutEpilogue(body, request.headers['content-type'] ?? '')
    pipeline(Readable.from(form, { objectMode: false }), parser, { signal: stop.signal }).then(
      () => (bytes ? bytes.end() : fail(new InvalidInput('missing-file', 'No part of the form is a file.'))),
      fail,
    )
  })
}

function openParser(request: IncomingMessage): BusboyInstance {
  try {
    const headers = request.headers as BusboyHeaders
    return new Busboy({
      headers,
      fileHwm: PIECE,
      limits: { fieldSize: 65_536, fields: 100, parts: MAX_PARTS, headerPairs: 100 },
    })
  } catch (error) {
    throw asRefusal(error)
  }
}

/**
 * The form up to its closing delimiter, after which the rest is dropped (RFC 2046, 5.1.1): the parser never ends if the rest has the delimiter
 * again. The form begins with an empty line, because a delimiter begins with the end of a line.
 */
async function* withoutEpilogue(body: AsyncIterable<Uint8Array>, contentType: string): AsyncGenerator<Uint8Array> {
  const [, quoted, token] = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType) ?? []
  const boundary = quoted ?? token
  if (boundary === undefined) return yield* body
  const closing = Buffer.from(`\r\n--${boundary}--`, 'latin1')
  // The end of the last piece, in which the delimiter may begin.
  let held = Buffer.from('\r\n')
  let isClosed = false
  for await (const piece of body) {
    if (isClosed) continue
    const bytes = Buffer.concat([held, piece])
    const at = bytes.indexOf(closing)
    isClosed = at >= 0
    const end = isClosed ? at + closing.length : Math.max(0, bytes.length - closing.length)
    yield bytes.subarray(0, end)
    held = bytes.subarray(end)
  }
  if (!isClosed) yield held
}

/** Refusals of the reader stay as they are; the parser's own errors concern the form. */
const asRefusal = (error: unknown): unknown =>
  error instanceof Error && error.constructor.name === 'Error'
    ? new InvalidInput('invalid-form', `The multipart body is malformed: ${error.message}.`, { cause: error })
    : error
