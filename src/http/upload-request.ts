import { parse as parseDisposition } from 'content-disposition'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { InvalidInput, UnsupportedType } from '../base/errors.ts'
import { parseMediaType } from '../base/text.ts'
import { UNTYPED } from '../content/file-description.ts'
import { isGuest } from '../accounts/caller.ts'
import type { Upload } from '../content/resource-kind.ts'
import type { Sender } from '../files/virus-scan.ts'
import { announcesBody, clientGoneSignal, mediaTypeOf } from './protocol/body.ts'
import { firstFile } from './protocol/multipart.ts'
import type { Uses } from './services.ts'

/** The file in the body of a request: the body itself, or the first file of a form. Nothing is read yet. */
export function readUpload(deps: Uses<'bodies'>, request: FastifyRequest, reply: FastifyReply): Upload {
  requireWholeFile(request)
  return mediaTypeOf(request.raw) === 'multipart/form-data'
    ? formUpload(deps, request, reply)
    : rawUpload(deps, request, reply)
}

/**
 * The body is stored as the file, so it must be all of it and nothing else (RFC 9110 14.5, 8.4).
 * @throws {InvalidInput} for a part of a file @throws {UnsupportedType} for an encoded one
 */
function requireWholeFile({ headers }: FastifyRequest): void {
  if (headers['content-range'] !== undefined)
    throw new InvalidInput('invalid-value', 'A file is uploaded as a whole, without `Content-Range`.')
  const coding = headers['content-encoding']?.trim().toLowerCase() ?? ''
  if (coding !== '' && coding !== 'identity')
    throw new UnsupportedType('unsupported-type', 'A file is uploaded as it is, without `Content-Encoding`.')
}

function rawUpload(deps: Uses<'bodies'>, request: FastifyRequest, reply: FastifyReply): Upload {
  const declared = request.headers['content-length']
  const type = request.parameters.get('mimeType') ?? request.headers['content-type']
  return {
    declaredSize: declared === undefined ? undefined : Number(declared),
    signal: clientGoneSignal(reply),
    sender: senderOf(request),
    describe: () => ({ mediaType: requireMediaType(type), fileName: nameIn(request.headers['content-disposition']) }),
    open: () => {
      if (announcesBody(request.raw)) return deps.bodies.stream(request.raw, reply.raw)
      throw new InvalidInput('missing-body', 'The request has no body. `Content-Length: 0` stores an empty file.')
    },
  }
}

/** The first file of a form. Its size is not known before it has been read. */
export function formUpload(deps: Uses<'bodies'>, request: FastifyRequest, reply: FastifyReply): Upload {
  let part: { readonly mediaType: string; readonly fileName: string | undefined } | undefined
  return {
    declaredSize: undefined,
    signal: clientGoneSignal(reply),
    sender: senderOf(request),
    describe: () => ({
      mediaType: requireMediaType(request.parameters.get('mimeType') ?? part?.mediaType),
      fileName: part?.fileName,
    }),
    open: async function* () {
      const file = await firstFile(request.raw, deps.bodies.stream(request.raw, reply.raw))
      part = file
      yield* file.bytes
    },
  }
}

/** Who uploads, for the audit log. */
export const senderOf = ({ caller }: FastifyRequest): Sender => ({
  userId: isGuest(caller) ? undefined : caller.user.id,
  address: caller.client.address,
})

function requireMediaType(type: string | undefined): string {
  const bare = type?.split(';', 1)[0]?.trim() ?? ''
  const parsed = bare === '' ? UNTYPED : parseMediaType(bare)
  if (parsed !== undefined) return parsed
  throw new InvalidInput('invalid-value', `The media type must be like text/plain, but is "${bare}".`)
}

function nameIn(header: string | string[] | undefined): string | undefined {
  if (typeof header !== 'string') return undefined
  try {
    return parseDisposition(header).parameters['filename']
  } catch (error) {
    throw new InvalidInput('invalid-value', 'The `Content-Disposition` of the request is malformed.', { cause: error })
  }
}
