import type { HttpServices } from './http-services.ts'
import { parse as parseDisposition } from 'content-disposition'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { InvalidInput, UnsupportedType } from '../base/errors.ts'
import { parseMediaType } from '../base/text.ts'
import { readFileName, UNTYPED } from '../content/file-description.ts'
import { isGuest } from '../accounts/caller.ts'
import type { Upload } from '../content/resource-kind.ts'
import type { Sender } from '../files/file-scanner.ts'
import { announcesBody, mediaTypeOf } from './protocol/body.ts'
import { clientGoneSignal } from './protocol/response-end.ts'
import { firstFile } from './protocol/multipart.ts'
import type { RightCheck } from './running-transfers.ts'
import type { Refusals } from './interface/route.ts'

/** How a file that is sent may be refused, whatever the address. */
export const fileRefusals = {
  400: ['virus-found'],
  413: ['quota-exceeded', 'file-too-large', 'too-large-to-scan'],
  503: ['scan-unavailable'],
} as const satisfies Refusals

/** The file in the body of a request: the body itself, or the first file of a form. Nothing is read yet. @param check looks the right to write it up again */
export function readUpload(
  deps: Pick<HttpServices, 'bodies' | 'transfers'>,
  request: FastifyRequest,
  reply: FastifyReply,
  check: RightCheck,
): Upload {
  requirePlainBody(request)
  const refused = deps.transfers.watchBody(request, reply, check)
  return mediaTypeOf(request.raw) === 'multipart/form-data'
    ? formUpload(deps, request, reply, refused)
    : rawUpload(deps, request, reply, refused)
}

/**
 * The body is stored as it comes, so it must be the bytes of the file and nothing else (RFC 9110 14.5, 8.4).
 * @throws {InvalidInput} for a range of the body @throws {UnsupportedType} for an encoded body
 */
export function requirePlainBody({ headers }: FastifyRequest): void {
  const range = headers['content-range']
  if (range !== undefined)
    throw new InvalidInput('invalid-value', `Send the bytes without \`Content-Range\`, which is ${shown(range)}.`)
  const coding = headers['content-encoding']?.trim().toLowerCase() ?? ''
  if (coding !== '' && coding !== 'identity')
    throw new UnsupportedType(
      'unsupported-type',
      `Send the bytes without \`Content-Encoding\`, which is ${shown(coding)}.`,
    )
}

const shown = (value: string): string => JSON.stringify(value.slice(0, 80))

function rawUpload(
  deps: Pick<HttpServices, 'bodies'>,
  request: FastifyRequest,
  reply: FastifyReply,
  refused: AbortSignal,
): Upload {
  const declared = request.headers['content-length']
  const type = request.parameters.get('mimeType') ?? request.headers['content-type']
  const description = {
    mediaType: requireMediaType(type),
    fileName: readFileName(nameIn(request.headers['content-disposition'])),
  }
  return {
    declaredSize: declared === undefined ? undefined : Number(declared),
    signal: clientGoneSignal(reply),
    sender: senderOf(request),
    describe: () => description,
    open: () => {
      if (announcesBody(request.raw)) return deps.bodies.stream(request.raw, reply.raw, refused)
      throw new InvalidInput('missing-body', 'The request has no body. `Content-Length: 0` stores an empty file.')
    },
  }
}

/** The first file of a form. Its size is not known before it has been read. */
export function formUpload(
  deps: Pick<HttpServices, 'bodies'>,
  request: FastifyRequest,
  reply: FastifyReply,
  refused: AbortSignal,
): Upload {
  let part: { readonly mediaType: string; readonly fileName: string | undefined } | undefined
  return {
    declaredSize: undefined,
    signal: clientGoneSignal(reply),
    sender: senderOf(request),
    describe: () => ({
      mediaType: requireMediaType(request.parameters.get('mimeType') ?? part?.mediaType),
      fileName: readFileName(part?.fileName),
    }),
    open: async function* () {
      requirePlainBody(request)
      const file = await firstFile(request.raw, deps.bodies.stream(request.raw, reply.raw, refused))
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
