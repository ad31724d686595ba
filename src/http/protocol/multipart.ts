import { Busboy, type BusboyEvents, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy'
import type { IncomingMessage } from 'node:http'
import { PassThrough, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { InvalidInput } from '../../base/errors.ts'
import type { Bytes } from '../../base/units.ts'

/**
 * More than a socket gives at once. A part that ends in the piece that fills its buffer is never asked for more by the parser,
 * which then waits for ever to go on with the rest.
 */
const PIECE: Bytes = 262_144

/** A part of a form that carries a file. */
export interface FilePart {
  readonly fileName: string | undefined
  readonly mediaType: string
  readonly bytes: AsyncIterable<Uint8Array>
}

/**
 * The first part of a multipart body that is a file; parts before it that are not are skipped (D7.6), later ones are read
 * and dropped. The size is for the reader of `bytes` to watch: nothing is ever cut off silently.
 * @throws {InvalidInput} when the body is malformed or ends early, or no part is a file
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
      // A reader that leaves off needs no more of the body either.
      file.once('close', () => stop.abort())
      // The part may end only because the body broke off; the reader must see that as a failure, so its end is passed on
      // when the whole body has been parsed.
      part.on('error', fail)
      part.pipe(file, { end: false })
      // A name in UTF-16 may hold half a surrogate pair, which no header can carry back.
      const name = fileName?.toWellFormed()
      resolve({ fileName: name === '' ? undefined : name, mediaType, bytes: file })
    }
    parser.on('file', onFile)
    pipeline(Readable.from(body, { objectMode: false }), parser, { signal: stop.signal }).then(
      () => (bytes ? bytes.end() : fail(new InvalidInput('missing-file', 'No part of the form is a file.'))),
      fail,
    )
  })
}

function openParser(request: IncomingMessage): BusboyInstance {
  try {
    const headers = request.headers as BusboyHeaders
    return new Busboy({ headers, fileHwm: PIECE, limits: { fieldSize: 65_536, fields: 100, headerPairs: 100 } })
  } catch (error) {
    throw asRefusal(error)
  }
}

/** Refusals of the reader pass through; the parser's own errors are about the form. */
const asRefusal = (error: unknown): unknown =>
  error instanceof Error && error.constructor.name === 'Error'
    ? new InvalidInput('invalid-form', `The multipart body is malformed: ${error.message}.`, { cause: error })
    : error
