import { Readable } from 'node:stream'
import { InvalidInput, PreconditionFailed, UnsupportedType } from '../../base/errors.ts'
import { parseMediaType } from '../../base/text.ts'
import { readFileName, UNTYPED } from '../../content/file-description.ts'
import type { Declared, Piece, Progress, ResumableUploads } from './resumable-uploads.ts'
import type { ResumableUpload } from './resumable-upload.ts'
import type { Resources } from '../../content/resources.ts'
import type { Files } from '../../files/files.ts'
import type { HttpServices } from '../../http/http-services.ts'
import { describeUpload, uploadMembers, uploadUri } from './upload-members.ts'
import { streamedBody } from '../../http/interface/bodies.ts'
import {
  done,
  empty,
  type Exchange,
  json,
  paging,
  type Refusals,
  route,
  undescribed,
} from '../../http/interface/route.ts'
import { list, named, object, optional, text } from '../../http/interface/schema.ts'
import { count } from '../../http/interface/shared-schemas.ts'
import { hasBody, mediaTypeOf } from '../../http/protocol/body.ts'
import { clientGoneSignal } from '../../http/protocol/response-end.ts'
import { fileRefusals, requirePlainBody, senderOf } from '../../http/upload-request.ts'

/** The version of the protocol, https://tus.io/protocols/resumable-upload. */
const VERSION = '1.0.0'
const EXTENSIONS = 'creation,creation-with-upload,expiration,termination,checksum,concatenation'
const ALGORITHMS = ['sha1', 'sha256'] as const
/** Every response names the version, also a refusal. */
const marks = {
  headers: { 'Tus-Resumable': VERSION },
  methodInHeader: true,
  crossOrigin: {
    sent: [
      'Tus-Resumable',
      'Upload-Length',
      'Upload-Offset',
      'Upload-Metadata',
      'Upload-Checksum',
      'Upload-Concat',
      'X-HTTP-Method-Override',
    ],
    read: [
      'Tus-Resumable',
      'Tus-Version',
      'Tus-Extension',
      'Tus-Max-Size',
      'Tus-Checksum-Algorithm',
      'Upload-Length',
      'Upload-Offset',
      'Upload-Expires',
      'Upload-Metadata',
      'Upload-Concat',
    ],
  },
} as const
const PIECE = 'application/offset+octet-stream'
const MAX_METADATA = 4096

const chapter = 'Resources'
const access = 'callers who can write the resource; others do not see the upload'
const path = {
  upload: { description: 'Id of the upload.', schema: { type: 'string' }, example: 'e3b0c44298fc1c149afb' },
}
const pieceHeaders = { 'Upload-Offset': 'Number of bytes received.', 'Upload-Expires': 'When the upload is given up.' }
const stateHeaders = {
  ...pieceHeaders,
  'Upload-Length': 'Size of the file.',
  'Upload-Metadata': 'As the client sent it when it created the upload.',
  'Upload-Concat': '`partial`, or `final;` with the addresses of the parts, as the client sent it.',
}

const refusals: Refusals = {
  400: ['invalid-value', 'invalid-type'],
  401: [],
  403: [],
  404: [],
  410: ['upload-expired'],
  412: ['tus-version'],
}

const pieceRefusals: Refusals = {
  ...refusals,
  400: ['invalid-value', 'invalid-type', ...fileRefusals[400]],
  408: ['request-timeout'],
  409: ['upload-offset', 'conflict'],
  413: ['upload-too-long', 'too-much-reserved', ...fileRefusals[413]],
  415: ['unsupported-type'],
  460: ['upload-checksum'],
  503: fileRefusals[503],
}

const Unfinished = named('UnfinishedUpload', object({ ...uploadMembers, list: optional(text()) }))

interface Services extends HttpServices {
  readonly files: Files
  readonly resources: Pick<Resources, 'recheck'>
  readonly resumableUploads: ResumableUploads
}

type Request = Exchange['request']
type Reply = Exchange['reply']

/** Uploads that go on after a broken connection: tus 1.0 (D42). */
export const uploadRoutes = [
  route({
    id: 'listUploads',
    method: 'GET',
    url: '/auth/uploads',
    tokenScopes: ['read'],
    chapter,
    summary: 'List the unfinished resumable uploads of the user, in all contexts, the latest first.',
    access: 'signed-in users',
    details:
      '`partial` marks an upload whose bytes will be joined with those of others; `list` is the id of the list that contains the entry.',
    query: paging,
    answers: { 200: json('The uploads.', object({ items: list(Unfinished), results: count })) },
    refusals: { 401: [] },
    handle: async ({ base, resumableUploads }: Services, { caller, query }) => {
      const { uploads, results } = await resumableUploads.unfinished(caller, query)
      return { items: uploads.map(upload => ({ ...describeUpload(base, upload), list: upload.list })), results }
    },
  }),
  route({
    id: 'createUpload',
    method: 'POST',
    url: '/:context/uploads/:entry',
    ...marks,
    chapter,
    summary: 'Begin a resumable upload of the file of an entry (tus 1.0).',
    access,
    details:
      '`Upload-Length` is the size of the file; the service reserves this space at once. `Upload-Metadata` may have `filename`, `filetype` and `newentry`; with `newentry` the service deletes the entry if the upload ends without a file. A body of type ' +
      `\`${PIECE}\` contains the first bytes. \`Upload-Concat: partial\` creates a partial upload; \`Upload-Concat: final;\` with the addresses of partial uploads joins them to one file.`,
    body: streamedBody([PIECE]),
    answers: {
      201: empty('The upload has begun.', {
        headers: { Location: 'Address of the upload.', ...pieceHeaders },
      }),
    },
    refusals: { ...pieceRefusals, 423: ['upload-locked'] },
    handle: async (deps: Services, { request, reply, params }) => await create(deps, request, reply, params),
  }),
  route({
    id: 'readUpload',
    method: 'GET',
    url: '/:context/uploads/:entry/:upload',
    path,
    ...marks,
    chapter,
    summary: 'Read how many bytes of a resumable upload the service has received. Clients for tus 1.0 use HEAD.',
    access,
    answers: {
      204: empty('`Upload-Offset` is the number of bytes received.', { headers: stateHeaders }),
    },
    details:
      'The service first ends an earlier request that still sends bytes of this upload, because its client has lost the connection. If the service has all bytes but could not complete the file, it tries again.',
    refusals: { ...pieceRefusals, 413: fileRefusals[413], 423: ['upload-locked'] },
    handle: async ({ resumableUploads }: Services, { request, reply, caller, params }) => {
      if (request.method === 'HEAD') requireVersion(request, reply)
      const sending = { signal: clientGoneSignal(reply), sender: senderOf(request) }
      const upload = await resumableUploads.progress(caller, params, params.upload, sending)
      sendState(reply, upload)
      reply.header('upload-length', upload.length).header('cache-control', 'no-store')
      const concat = upload.isPartial === 1 ? 'partial' : upload.concat
      if (concat !== null) reply.header('upload-concat', concat)
      if (upload.metadata !== null) reply.header('upload-metadata', upload.metadata)
      return reply.status(request.method === 'HEAD' ? 200 : 204).send()
    },
  }),
  route({
    id: 'appendToUpload',
    method: 'PATCH',
    url: '/:context/uploads/:entry/:upload',
    path,
    ...marks,
    chapter,
    summary: 'Send further bytes of a resumable upload. After the last byte the entry has the new file.',
    access,
    details:
      'If the connection breaks, the service keeps the bytes that it has received. `Upload-Offset` must be the number of bytes received. With `Upload-Checksum` (`sha1` or `sha256`, and the digest in base64) all bytes of the request are stored, or none.',
    body: streamedBody([PIECE], { isRequired: true }),
    answers: { 204: empty('The bytes are stored.', { headers: pieceHeaders }) },
    refusals: pieceRefusals,
    handle: async (deps: Services, { request, reply, caller, params }) => {
      requireVersion(request, reply)
      const piece = readPiece(deps, request, reply, { key: params, offset: readCount(request, 'upload-offset') })
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
    ...marks,
    chapter,
    summary: 'Cancel a resumable upload.',
    access: 'its user; the user whose quota it counts against; owners of its context; administrators',
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
      ...marks,
      skipAuth: true,
      handle: ({ files: { maxFileSize } }: Services, { reply }) => {
        reply.headers({
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

async function create(deps: Services, request: Request, reply: Reply, place: Place): Promise<Reply> {
  requireVersion(request, reply)
  const concat = header(request, 'upload-concat')
  if (concat !== undefined && concat !== 'partial' && !concat.startsWith('final;'))
    throw wrong('Upload-Concat', '`partial`, or `final;` and addresses', concat)
  const { upload } = concat?.startsWith('final;')
    ? await join(deps, request, reply, { place, concat })
    : await begin(deps, request, reply, { place, isPartial: concat === 'partial' })
  sendState(reply, upload)
  return reply
    .status(201)
    .header('location', deps.base.toAbsolute(uploadUri(upload)))
    .send()
}

async function begin(
  deps: Services,
  request: Request,
  reply: Reply,
  { place, isPartial }: { readonly place: Place; readonly isPartial: boolean },
): Promise<Progress> {
  const declared = { length: readCount(request, 'upload-length'), ...readMetadata(request), isPartial }
  const piece =
    hasBody(request.raw) || declared.length === 0
      ? readPiece(deps, request, reply, { key: place, offset: 0 })
      : undefined
  return await deps.resumableUploads.create(request.caller, place, declared, piece)
}

/** @param to.concat `final;` and addresses, separated by spaces; each ends in the id of a partial upload */
async function join(
  { resumableUploads }: Services,
  request: Request,
  reply: Reply,
  { place, concat }: { readonly place: Place; readonly concat: string },
): Promise<Progress> {
  const ids = concat
    .slice('final;'.length)
    .split(' ')
    .filter(address => address !== '')
    .map(address => address.slice(address.lastIndexOf('/') + 1))
  const declared = { ...readMetadata(request), concat }
  const how = { declared, signal: clientGoneSignal(reply), sender: senderOf(request) }
  return await resumableUploads.join(request.caller, place, ids, how)
}

function readPiece(
  { bodies, resources, transfers }: Services,
  request: Request,
  reply: Reply,
  { key, offset }: { readonly key: Place; readonly offset: number },
): Piece {
  requirePlainBody(request)
  const hasBytes = hasBody(request.raw)
  const isTyped = mediaTypeOf(request.raw) === PIECE
  if (!isTyped && (hasBytes || request.method === 'PATCH'))
    throw new UnsupportedType('unsupported-type', `\`Content-Type\` must be ${PIECE}.`)
  const refused = transfers.watchBody(request, reply, caller => resources.recheck(caller, 'writeresource', key))
  return {
    offset,
    size: sizeOf(request),
    bytes: hasBytes ? bodies.stream(request.raw, reply.raw, refused) : Readable.from([]),
    signal: clientGoneSignal(reply),
    sender: senderOf(request),
    checksum: readChecksum(request),
  }
}

/** Node accepts digits only. */
function sizeOf({ headers }: Request): Piece['size'] {
  const length = headers['content-length']
  return length === undefined ? undefined : Number(length)
}

function readChecksum(request: Request): Piece['checksum'] {
  const text = header(request, 'upload-checksum')
  if (text === undefined) return undefined
  const [name, digest = ''] = text.split(' ')
  const algorithm = ALGORITHMS.find(known => known === name)
  const bytes = Buffer.from(digest, 'base64')
  if (algorithm && bytes.length === { sha1: 20, sha256: 32 }[algorithm]) return { algorithm, digest: bytes }
  throw wrong('Upload-Checksum', '`sha1` or `sha256` and the digest in base64', text)
}

/** Values of `filetype` of a file without a type: scripts turn a missing one into a word. */
const untyped: ReadonlySet<string> = new Set(['', 'undefined', 'null'])

/** Members without a meaning here are kept with the others for HEAD. */
function readMetadata(request: Request): Omit<Declared, 'length' | 'isPartial'> {
  const text = header(request, 'upload-metadata') ?? ''
  if (text.length > MAX_METADATA) throw wrong('Upload-Metadata', `at most ${MAX_METADATA} characters`, text)
  const pairs = text
    .split(',')
    .map(pair => pair.trim().split(' '))
    .map(([name = '', value = '']) => [name, Buffer.from(value, 'base64').toString()] as const)
  const known = new Map(pairs)
  const filetype = known.get('filetype') ?? ''
  const mediaType = untyped.has(filetype) ? UNTYPED : parseMediaType(filetype)
  if (mediaType === undefined) throw new InvalidInput('invalid-value', `"${filetype}" is not a media type.`)
  return {
    mediaType,
    fileName: readFileName(known.get('filename')),
    metadata: text === '' ? undefined : text,
    isEntryNew: known.has('newentry'),
  }
}

/** @throws {InvalidInput} unless the header is a whole number */
function readCount(request: Request, name: 'upload-length' | 'upload-offset'): number {
  const text = header(request, name)
  if (text !== undefined && /^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text)
  throw wrong(name === 'upload-length' ? 'Upload-Length' : 'Upload-Offset', 'a whole number of bytes', text)
}

function header(request: Request, name: string): string | undefined {
  const value = request.headers[name]
  return typeof value === 'string' ? value.trim() : undefined
}

const wrong = (name: string, expected: string, text: string | undefined): InvalidInput => {
  const found = text === undefined ? 'it is missing' : `it is ${JSON.stringify(text.slice(0, 80))}`
  return new InvalidInput('invalid-value', `\`${name}\` must be ${expected}, but ${found}.`)
}

/** @throws {PreconditionFailed} `tus-version` */
function requireVersion(request: Request, reply: Reply): void {
  const version = header(request, 'tus-resumable')
  if (version === VERSION) return
  reply.header('tus-version', VERSION)
  throw new PreconditionFailed('tus-version', `\`Tus-Resumable\` must be ${VERSION}, but is ${version ?? 'missing'}.`)
}

function sendState(reply: Reply, { received, expires, isDone }: ResumableUpload): void {
  reply.headers({
    'upload-offset': String(received),
    ...(isDone === 1 ? {} : { 'upload-expires': new Date(expires).toUTCString() }),
  })
}
