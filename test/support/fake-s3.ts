import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'

/** One request, without the host and the parameter that names the operation for logs. */
export interface S3Request {
  readonly method: string
  /** The name of the object, without the bucket; empty for the bucket itself. */
  readonly name: string
  readonly query: Readonly<Record<string, string>>
  readonly range: string | undefined
  readonly size: number
  /** The name of the object that is copied instead of a body, and the range if it is not copied as a whole. */
  readonly copied: string | undefined
  readonly copiedRange: string | undefined
  /** The region that the request was signed for. */
  readonly region: string | undefined
  /** The key that it was signed with. */
  readonly accessKey: string | undefined
}

interface Upload {
  readonly id: string
  readonly name: string
  readonly parts: Map<number, Buffer>
}

interface Reply {
  readonly status: number
  readonly body?: string | Buffer
  readonly headers?: Record<string, string>
}

export const BUCKET = 'bucket'
export const INITIATED = '2026-01-02T03:04:05.000Z'
export const MODIFIED = '2026-02-03T04:05:06.000Z'

/** An S3 server of a test's own, which holds one bucket in memory, knows nothing about credentials, and fails on request. */
export interface FakeS3 {
  readonly url: string
  readonly requests: S3Request[]
  /** `traceparent` of each request that has one. */
  readonly traces: string[]
  readonly objects: Map<string, Buffer>
  readonly uploads: Map<string, Upload>
  /** Items per page of a listing. */
  pageSize: number
  /** Called for each request; what it returns is the reply. `'silence'` sends none, ever. */
  intercept: ((request: S3Request) => Reply | 'silence' | undefined) | undefined
  /** Requests that have neither been answered nor given up. */
  readonly open: () => number
}

/** The body with which S3 refuses a request. */
export const refusal = (status: number, code: string): Reply => ({
  status,
  body: `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`,
})

const xml = (name: string, body: string): Reply => ({
  status: 200,
  body: `<?xml version="1.0"?><${name}>${body}</${name}>`,
})
const tag = (name: string, value: string | number | boolean): string => `<${name}>${value}</${name}>`
const etag = (bytes: Buffer): string => `"${createHash('md5').update(bytes).digest('hex')}"`

const MIN_PART = 5 * 2 ** 20

function rangeOf(bytes: Buffer, range: string | undefined): Buffer {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? []
  return first === undefined ? bytes : bytes.subarray(Number(first), Number(last) + 1)
}

export async function startFakeS3(t: { after(work: () => Promise<void>): void }): Promise<FakeS3> {
  const objects = new Map<string, Buffer>()
  const uploads = new Map<string, Upload>()
  let open = 0
  let ids = 0
  const fake = {
    url: '',
    requests: [] as S3Request[],
    traces: [] as string[],
    objects,
    uploads,
    pageSize: 1000,
    intercept: undefined as FakeS3['intercept'],
    open: () => open,
  }

  /** The items after `after`, and whether there are more. */
  function page<T>(items: readonly T[], after: string | undefined, idOf: (item: T) => string) {
    const rest = after === undefined ? items : items.slice(items.findIndex(item => idOf(item) === after) + 1)
    const shown = rest.slice(0, fake.pageSize)
    return { shown, isTruncated: rest.length > shown.length, last: shown.at(-1) }
  }

  function ofBucket({ method, query }: S3Request): Reply {
    if (method === 'HEAD') return { status: 200 }
    const prefix = query['prefix'] ?? ''
    if ('uploads' in query) {
      const all = [...uploads.values()].filter(({ name }) => name.startsWith(prefix))
      const { shown, isTruncated, last } = page(all, query['upload-id-marker'], ({ id }) => id)
      if (
        query['upload-id-marker'] !== undefined &&
        uploads.get(query['upload-id-marker'])?.name !== query['key-marker']
      )
        return refusal(400, 'InvalidArgument')
      const items = shown.map(({ id, name }) =>
        tag('Upload', tag('Key', name) + tag('UploadId', id) + tag('Initiated', INITIATED)),
      )
      // A server may send the markers on the last page too.
      const next = last ? tag('NextKeyMarker', last.name) + tag('NextUploadIdMarker', last.id) : ''
      return xml('ListMultipartUploadsResult', items.join('') + tag('IsTruncated', isTruncated) + next)
    }
    const all = [...objects].filter(([name]) => name.startsWith(prefix) && name > (query['start-after'] ?? ''))
    const { shown, isTruncated, last } = page(all, query['continuation-token'], ([name]) => name)
    const items = shown.map(([name, bytes]) =>
      tag('Contents', tag('Key', name) + tag('Size', bytes.length) + tag('LastModified', MODIFIED)),
    )
    const next = last ? tag('NextContinuationToken', last[0]) : ''
    return xml('ListBucketResult', items.join('') + tag('IsTruncated', isTruncated) + next)
  }

  function ofUpload({ method, name, query, copied, copiedRange }: S3Request, body: Buffer): Reply {
    const upload = uploads.get(query['uploadId'] ?? '')
    if (upload?.name !== name) return refusal(404, 'NoSuchUpload')
    if (method === 'PUT') {
      const source = copied === undefined ? body : objects.get(copied)
      if (!source) return refusal(404, 'NoSuchKey')
      // AWS copies ranges of larger objects only.
      if (copiedRange !== undefined && source.length <= MIN_PART) return refusal(400, 'InvalidRequest')
      const part = rangeOf(source, copiedRange)
      upload.parts.set(Number(query['partNumber']), part)
      if (copied !== undefined) return xml('CopyPartResult', tag('ETag', etag(part)))
      return { status: 200, headers: { etag: etag(body) } }
    }
    if (method === 'DELETE') {
      uploads.delete(upload.id)
      return { status: 204 }
    }
    const parts = [...upload.parts].sort(([a], [b]) => a - b)
    if (method === 'GET') {
      const { shown, isTruncated, last } = page(parts, query['part-number-marker'], ([number]) => String(number))
      const items = shown.map(([number, bytes]) => tag('Part', tag('PartNumber', number) + tag('Size', bytes.length)))
      const next = last ? tag('NextPartNumberMarker', last[0]) : ''
      return xml('ListPartsResult', items.join('') + tag('IsTruncated', isTruncated) + next)
    }
    // Completed with all parts in order, each with the tag that it was given.
    const named = [...body.toString().matchAll(/<Part>(.*?)<\/Part>/gs)].map(([, part = '']) => ({
      number: Number(/<PartNumber>(\d+)</.exec(part)?.[1]),
      etag: /<ETag>([^<]*)</.exec(part)?.[1]?.replaceAll('&quot;', '"'),
    }))
    const expected = parts.map(([number, bytes]) => ({ number, etag: etag(bytes) }))
    if (JSON.stringify(named) !== JSON.stringify(expected)) return refusal(400, 'InvalidPart')
    const [first = 0, ...others] = parts.map(([, bytes]) => bytes.length)
    const last = others.pop() ?? 0
    if (others.length > 0 && first < MIN_PART) return refusal(400, 'EntityTooSmall')
    // As Cloudflare R2 wants it.
    if (others.some(length => length !== first) || last > first) return refusal(400, 'InvalidPart')
    objects.set(name, Buffer.concat(parts.map(([, bytes]) => bytes)))
    uploads.delete(upload.id)
    return xml('CompleteMultipartUploadResult', tag('Key', name))
  }

  function ofObject({ method, name, range }: S3Request, body: Buffer): Reply {
    const bytes = objects.get(name)
    if (method === 'PUT') objects.set(name, body)
    if (method === 'DELETE') objects.delete(name)
    if (method !== 'GET') return { status: method === 'PUT' ? 200 : 204 }
    if (!bytes) return refusal(404, 'NoSuchKey')
    return { status: range === undefined ? 200 : 206, body: rangeOf(bytes, range) }
  }

  function answer(request: S3Request, body: Buffer): Reply {
    if (request.name === '') return ofBucket(request)
    if (request.method === 'POST' && 'uploads' in request.query) {
      const id = `upload${++ids}`
      uploads.set(id, { id, name: request.name, parts: new Map() })
      return xml('InitiateMultipartUploadResult', tag('UploadId', id))
    }
    return 'uploadId' in request.query ? ofUpload(request, body) : ofObject(request, body)
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request
    const { pathname, searchParams } = new URL(url, 'http://x')
    const [, bucket, ...rest] = decodeURIComponent(pathname).split('/')
    const body = await buffer(request)
    const { 'x-id': _, ...query } = Object.fromEntries(searchParams)
    const [, accessKey, region] = /Credential=([^/]+)\/\d+\/([^/]+)\//.exec(headers.authorization ?? '') ?? []
    const [, copied] = /^[^/]+\/(.+)$/.exec(decodeURIComponent(String(headers['x-amz-copy-source'] ?? ''))) ?? []
    const copiedRange = headers['x-amz-copy-source-range']
    const copy = { copied, copiedRange: typeof copiedRange === 'string' ? copiedRange : undefined }
    const signed = { region, accessKey }
    const one = { method, name: rest.join('/'), query, range: headers.range, size: body.length, ...copy, ...signed }
    fake.requests.push(one)
    if (typeof headers['traceparent'] === 'string') fake.traces.push(headers['traceparent'])
    // Without TLS, a server compares the body with the digest that was signed.
    if (headers['x-amz-content-sha256'] !== createHash('sha256').update(body).digest('hex'))
      throw new Error('the signed digest is not that of the body')
    const reply = fake.intercept?.(one) ?? (bucket === BUCKET ? answer(one, body) : refusal(404, 'NoSuchBucket'))
    if (reply === 'silence') return
    const { status, body: content = '', headers: more = {} } = reply
    const length = status === 204 ? {} : { 'content-length': Buffer.byteLength(content) }
    response.writeHead(status, { ...length, ...more }).end(content)
  }

  const server = createServer((request, response) => {
    open++
    response.once('close', () => open--)
    serve(request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a socket without a port')
  fake.url = `http://127.0.0.1:${address.port}`
  t.after(async () => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  })
  return fake
}
