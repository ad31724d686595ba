import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { InvalidInput, PreconditionFailed, UnsupportedType } from '../../base/errors.ts'
import { parseMediaType } from '../../base/text.ts'
import { isoTime } from '../../base/times.ts'
import { UNTYPED } from '../../content/file-description.ts'
import type { Declared, Piece, Progress } from '../../content/resumable-uploads.ts'
import type { ResumableUpload } from '../../files/resumable-files.ts'
import { uploadUri } from '../../model/addresses.ts'
import { streamedBody } from '../interface/bodies.ts'
import { done, empty, json, type Refusals, route, undescribed } from '../interface/route.ts'
import { list, named, object, optional, text } from '../interface/schema.ts'
import { count, time } from '../interface/schemas.ts'
import { announcesBody, clientGoneSignal, mediaTypeOf } from '../protocol/body.ts'
import type { Uses } from '../services.ts'
import { senderOf } from '../upload-request.ts'
import { uploadRefusals } from './resources.ts'

/** The version of the protocol, https://tus.io/protocols/resumable-upload. */
const VERSION = '1.0.0'
const EXTENSIONS = 'creation,creation-with-upload,expiration,termination,checksum,concatenation'
const ALGORITHMS = ['sha1', 'sha256'] as const
const PIECE = 'application/offset+octet-stream'
const MAX_METADATA = 4096

const chapter = 'Resources'
const access = 'callers who can write the resource; others do not see the upload'
const path = {
  upload: { description: 'Id of the upload.', schema: { type: 'string' }, example: 'e3b0c44298fc1c149afb' },
}
const pieceHeaders = { 'Upload-Offset': 'Number of bytes received.', 'Upload-Expires': 'When the upload is given up.' }

const refusals: Refusals = {
  400: ['invalid-value', 'invalid-type'],
  401: [],
  403: [],
  404: [],
  410: ['upload-expired'],
  412: ['tus-version'],
}

const pieceRefusals: Refusals = {
  ...uploadRefusals,
  ...refusals,
  400: ['invalid-value', 'invalid-type', 'virus-found'],
  409: ['upload-offset', 'conflict'],
  413: ['upload-too-long', 'quota-exceeded', 'file-too-large', 'too-large-to-scan'],
  415: ['unsupported-type'],
  460: ['upload-checksum'],
}

const Unfinished = named(
  'UnfinishedUpload',
  object({
    uri: text(),
    context: text(),
    entry: text(),
    fileName: optional(text()),
    length: count,
    received: count,
    expires: time,
  }),
)

type Services = Uses<'base' | 'bodies' | 'files' | 'resumableUploads'>

/** Uploads that go on after a broken connection: tus 1.0 (D42). */
export const uploadRoutes = [
  route({
    id: 'listUploads',
    method: 'GET',
    url: '/auth/uploads',
    tokenScopes: ['read'],
    chapter,
    summary: 'List the unfinished resumable uploads of the user, in all contexts.',
    access: 'signed-in users',
    answers: { 200: json('The uploads.', object({ items: list(Unfinished) })) },
    refusals: { 401: [] },
    handle: async ({ base, resumableUploads }: Services, { caller }) => {
      const uploads = await resumableUploads.unfinished(caller)
      const items = uploads.map(upload => ({
        uri: base.toAbsolute(uriOf(upload)),
        context: upload.context,
        entry: upload.entry,
        ...(upload.fileName === null ? {} : { fileName: upload.fileName }),
        length: upload.length,
        received: upload.received,
        expires: isoTime(upload.expires),
      }))
      return { items }
    },
  }),
  route({
    id: 'createUpload',
    method: 'POST',
    url: '/:context/uploads/:entry',
    chapter,
    summary: 'Begin a resumable upload of the file of an entry (tus 1.0).',
    access,
    details:
      '`Upload-Length` is the size of the file; it is reserved at once. `Upload-Metadata` may have `filename`, `filetype` and, for an entry that is deleted if the upload ends without a file, `newentry`. A body of type ' +
      `\`${PIECE}\` are the first bytes. \`Upload-Concat\` makes a partial upload (\`partial\`), or one file of several (\`final;\` and their addresses).`,
    body: streamedBody([PIECE]),
    answers: {
      201: empty('The upload has begun.', {
        headers: { Location: 'Address of the upload.', ...pieceHeaders },
      }),
    },
    refusals: pieceRefusals,
    handle: async (deps: Services, { request, reply, params }) => await create(deps, request, reply, params),
  }),
  route({
    id: 'readUpload',
    method: 'GET',
    url: '/:context/uploads/:entry/:upload',
    path,
    chapter,
    summary: 'Ask how much of a resumable upload has been received; with HEAD, as tus 1.0 does, or with GET.',
    access,
    answers: {
      204: empty('How much has been received.', { headers: { ...pieceHeaders, 'Upload-Length': 'Size of the file.' } }),
    },
    details: 'If all bytes have been received but the last step has failed, it is taken again.',
    refusals: { ...pieceRefusals, 413: ['quota-exceeded', 'too-large-to-scan'], 423: ['upload-locked'] },
    handle: async ({ resumableUploads }: Services, { request, reply, caller, params }) => {
      if (request.method === 'HEAD') requireVersion(request, reply)
      const sending = { signal: clientGoneSignal(reply), sender: senderOf(request) }
      const upload = await resumableUploads.progress(caller, params, params.upload, sending)
      sendState(reply, upload)
      reply.header('upload-length', upload.length).header('cache-control', 'no-store')
      if (upload.isPart === 1) reply.header('upload-concat', 'partial')
      return reply.status(request.method === 'HEAD' ? 200 : 204).send()
    },
  }),
  route({
    id: 'appendToUpload',
    method: 'PATCH',
    url: '/:context/uploads/:entry/:upload',
    path,
    chapter,
    summary: 'Send further bytes of a resumable upload; with the last one the file takes its place.',
    access,
    details:
      'What arrives is kept if the connection breaks. `Upload-Offset` must be the number of bytes received. With `Upload-Checksum` (`sha1` or `sha256`, and the digest in base64) all bytes of the request are stored, or none.',
    body: streamedBody([PIECE], { isRequired: true }),
    answers: { 204: empty('The bytes are stored.', { headers: pieceHeaders }) },
    refusals: pieceRefusals,
    handle: async (deps: Services, { request, reply, caller, params }) => {
      requireVersion(request, reply)
      const piece = readPiece(deps, request, reply, readCount(request, 'upload-offset'))
      const { upload } = await deps.resumableUploads.append(caller, params, params.upload, piece)
      sendState(reply, upload)
      return reply.status(204).send()
    },
  }),
  route({
    id: 'deleteUpload',
    method: 'DELETE',
    url: '/:context/uploads/:entry/:upload',
    path,
    chapter,
    summary: 'Give a resumable upload up.',
    access,
    answers: { 204: done },
    refusals,
    handle: async ({ resumableUploads }: Services, { request, reply, caller, params }) => {
      requireVersion(request, reply)
      await resumableUploads.remove(caller, params.upload)
      return reply.status(204).send()
    },
  }),
  ...['/:context/uploads/:entry', '/:context/uploads/:entry/:upload'].map(url =>
    undescribed({
      method: 'OPTIONS',
      url,
      skipAuth: true,
      handle: ({ files: { maxFileSize } }: Services, { reply }) => {
        reply.headers({
          'tus-resumable': VERSION,
          'tus-version': VERSION,
          'tus-extension': EXTENSIONS,
          'tus-checksum-algorithm': ALGORITHMS.join(','),
          ...(maxFileSize === -1 ? {} : { 'tus-max-size': String(maxFileSize) }),
        })
        return reply.status(204).send()
      },
    }),
  ),
]

interface Place {
  readonly context: string
  readonly entry: string
}

async function create(
  deps: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  place: Place,
): Promise<FastifyReply> {
  requireVersion(request, reply)
  const concat = header(request, 'upload-concat')
  if (concat !== undefined && concat !== 'partial' && !concat.startsWith('final;'))
    throw wrong('Upload-Concat', '`partial`, or `final;` and addresses', concat)
  const { upload } = concat?.startsWith('final;')
    ? await join(deps, request, reply, { place, addresses: concat.slice('final;'.length) })
    : await begin(deps, request, reply, { place, isPart: concat === 'partial' })
  sendState(reply, upload)
  return reply
    .status(201)
    .header('location', deps.base.toAbsolute(uriOf(upload)))
    .send()
}

async function begin(
  deps: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  { place, isPart }: { readonly place: Place; readonly isPart: boolean },
): Promise<Progress> {
  const declared = { length: readCount(request, 'upload-length'), ...readMetadata(request) }
  const hasBytes = announcesBody(request.raw) && request.headers['content-length'] !== '0'
  const piece = hasBytes || declared.length === 0 ? readPiece(deps, request, reply, 0) : undefined
  const upload = await deps.resumableUploads.create(request.caller, place, declared, isPart)
  return piece ? await deps.resumableUploads.append(request.caller, place, upload.id, piece) : { upload }
}

/** The addresses are separated by spaces; each ends in the id of a partial upload. */
async function join(
  { resumableUploads }: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  { place, addresses }: { readonly place: Place; readonly addresses: string },
): Promise<Progress> {
  const ids = addresses
    .split(' ')
    .filter(address => address !== '')
    .map(address => address.slice(address.lastIndexOf('/') + 1))
  const how = { declared: readMetadata(request), signal: clientGoneSignal(reply), sender: senderOf(request) }
  return await resumableUploads.join(request.caller, place, ids, how)
}

function readPiece({ bodies }: Services, request: FastifyRequest, reply: FastifyReply, offset: number): Piece {
  const hasBody = announcesBody(request.raw)
  if (hasBody && mediaTypeOf(request.raw) !== PIECE)
    throw new UnsupportedType('unsupported-type', `\`Content-Type\` must be ${PIECE}.`)
  return {
    offset,
    bytes: hasBody ? bodies.stream(request.raw, reply.raw) : Readable.from([]),
    signal: clientGoneSignal(reply),
    sender: senderOf(request),
    checksum: readChecksum(request),
  }
}

function readChecksum(request: FastifyRequest): Piece['checksum'] {
  const text = header(request, 'upload-checksum')
  if (text === undefined) return undefined
  const [name, digest = ''] = text.split(' ')
  const algorithm = ALGORITHMS.find(known => known === name)
  const bytes = Buffer.from(digest, 'base64')
  if (algorithm && bytes.length === { sha1: 20, sha256: 32 }[algorithm]) return { algorithm, digest: bytes }
  throw wrong('Upload-Checksum', '`sha1` or `sha256` and the digest in base64', text)
}

/** Other members have no meaning here. */
function readMetadata(request: FastifyRequest): Omit<Declared, 'length'> {
  const text = header(request, 'upload-metadata') ?? ''
  if (text.length > MAX_METADATA) throw wrong('Upload-Metadata', `at most ${MAX_METADATA} characters`, text)
  const pairs = text
    .split(',')
    .map(pair => pair.trim().split(' '))
    .map(([name = '', value = '']) => [name, Buffer.from(value, 'base64').toString()] as const)
  const known = new Map(pairs)
  const [filename = '', filetype = ''] = [known.get('filename'), known.get('filetype')]
  const mediaType = filetype === '' ? UNTYPED : parseMediaType(filetype)
  if (mediaType === undefined) throw new InvalidInput('invalid-value', `"${filetype}" is not a media type.`)
  return { mediaType, fileName: filename === '' ? undefined : filename, isEntryNew: known.has('newentry') }
}

/** @throws {InvalidInput} unless the header is a whole number */
function readCount(request: FastifyRequest, name: 'upload-length' | 'upload-offset'): number {
  const text = header(request, name)
  if (text !== undefined && /^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text)
  throw wrong(name === 'upload-length' ? 'Upload-Length' : 'Upload-Offset', 'a whole number of bytes', text)
}

function header(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name]
  return typeof value === 'string' ? value.trim() : undefined
}

const wrong = (name: string, expected: string, text: string | undefined): InvalidInput => {
  const found = text === undefined ? 'it is missing' : `it is ${JSON.stringify(text.slice(0, 80))}`
  return new InvalidInput('invalid-value', `\`${name}\` must be ${expected}, but ${found}.`)
}

/** @throws {PreconditionFailed} `tus-version` */
function requireVersion(request: FastifyRequest, reply: FastifyReply): void {
  const version = header(request, 'tus-resumable')
  if (version === VERSION) return
  reply.header('tus-version', VERSION)
  throw new PreconditionFailed('tus-version', `\`Tus-Resumable\` must be ${VERSION}, but is ${version ?? 'missing'}.`)
}

function sendState(reply: FastifyReply, { received, expires, isDone }: ResumableUpload): void {
  reply.headers({
    'tus-resumable': VERSION,
    'upload-offset': String(received),
    ...(isDone === 1 ? {} : { 'upload-expires': new Date(expires).toUTCString() }),
  })
}

const uriOf = ({ context, entry, id }: ResumableUpload): string => uploadUri({ context, id: entry }, id)
