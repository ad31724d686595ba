import {
  type _Object,
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  ListPartsCommand,
  type ListPartsCommandOutput,
  type MultipartUpload,
  S3Client,
  S3ServiceException,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import { defaultProvider } from '@aws-sdk/credential-provider-node'
import { StoreUnavailable } from '../../base/errors.ts'
import { outgoingTraceHeaders } from '../../base/request-timings.ts'
import type { Bytes, Milliseconds } from '../../base/units.ts'
import type { ByteRange } from '../blob-store.ts'
import type { PartSizes, S3Object } from './s3-parts.ts'

export interface S3Options {
  /** Address of a server other than Amazon's; buckets are then part of the path, not of the host name. */
  readonly endpoint?: string | undefined
  /** If absent, the region of the usual environment variables; for a server other than Amazon's, `us-east-1`. */
  readonly region?: string | undefined
  /** If absent, they come from the same places that Amazon's tools use. */
  readonly credentials?: Credentials
  /** How long a server may stay silent before the attempt fails; 10 s by default. */
  readonly timeout?: Milliseconds
  /** Other sizes than {@link PART_SIZES}, in tests. */
  readonly partSizes?: PartSizes
}

export const TIMEOUT: Milliseconds = 10_000
const ATTEMPTS = 3
/** Readers hold a connection for as long as they like. With the usual 50, a few slow readers would use up all of them. */
const SOCKETS = 1024

type Credentials =
  | { readonly accessKeyId: string; readonly secretAccessKey: string }
  | ReturnType<typeof defaultProvider>

/** Credentials from the places that Amazon's tools use, read once, also from a file that has changed. */
export const currentCredentials = (): Credentials => defaultProvider({ ignoreCache: true })

/**
 * A client whose calls always end: each attempt fails once the server is silent for too long, and there are few attempts.
 * Readers may take their time, so the client for reading applies the timeout only up to the head of the response.
 */
export function createS3Client(purpose: 'read' | 'write', options: S3Options): S3Client {
  const { endpoint, region, credentials, timeout = TIMEOUT } = options
  const timeouts = purpose === 'read' ? { requestTimeout: timeout, socketTimeout: 0 } : { socketTimeout: timeout }
  const client = new S3Client({
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true, region: region ?? 'us-east-1' }),
    ...(region === undefined ? {} : { region }),
    ...(credentials === undefined ? {} : { credentials }),
    maxAttempts: ATTEMPTS,
    // Servers other than Amazon's reject the trailing checksums that are sent by default, or store them as content.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // It would need a new connection for each part.
    expectContinueHeader: false,
    requestHandler: {
      connectionTimeout: Math.min(timeout, 3000),
      throwOnRequestTimeout: true,
      ...timeouts,
      httpAgent: { maxSockets: SOCKETS },
      httpsAgent: { maxSockets: SOCKETS },
    },
  })
  client.middlewareStack.add(
    next => async args => {
      Object.assign((args.request as { readonly headers: Record<string, string> }).headers, outgoingTraceHeaders())
      return await next(args)
    },
    // After the signature: a proxy in between may put in a step of its own.
    { step: 'deserialize', name: 'trace' },
  )
  return client
}

/**
 * Returns the result of a call. @throws the reason of `signal` when it has aborted, {@link StoreUnavailable} when the server
 * is unreachable or rejects our access, and its own error when the object does not exist.
 */
export async function s3Call<T>(call: Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await call
  } catch (error) {
    signal?.throwIfAborted()
    throw isAbsentObject(error) ? error : filesUnavailable(error)
  }
}

export const filesUnavailable = (cause: unknown): StoreUnavailable =>
  new StoreUnavailable('The store of the files', { cause })

/** True if the object or unfinished upload does not exist; false if the bucket does not exist. */
export const isAbsentObject = (error: unknown): boolean =>
  error instanceof S3ServiceException && ['NoSuchKey', 'NoSuchUpload'].includes(error.name)

/** Copies that a server makes at a time. */
const COPIES = 8

/** A part that the server copies from an object. */
export interface S3Copy {
  readonly number: number
  readonly object: S3Object
  /** Absent: all of it. */
  readonly range: ByteRange | undefined
}

/** A multipart upload. The object exists once the parts have been completed. */
export interface S3Multipart {
  add(number: number, bytes: Uint8Array): Promise<void>
  copy(copies: readonly S3Copy[]): Promise<void>
  complete(): Promise<void>
}

export async function beginMultipart(client: S3Client, object: S3Object, signal: AbortSignal): Promise<S3Multipart> {
  const options = { abortSignal: signal }
  const { UploadId } = await s3Call(client.send(new CreateMultipartUploadCommand(object), options), signal)
  const parts: CompletedPart[] = []
  return {
    async add(PartNumber, bytes) {
      const command = new UploadPartCommand({ ...object, UploadId, PartNumber, Body: bytes })
      const { ETag } = await s3Call(client.send(command, options), signal)
      parts.push({ PartNumber, ETag })
    },
    async copy(copies) {
      for (let from = 0; from < copies.length; from += COPIES) {
        const some = copies.slice(from, from + COPIES).map(async ({ number: PartNumber, object: source, range }) => {
          const CopySource = [source.Bucket, ...source.Key.split('/')].map(encodeURIComponent).join('/')
          const CopySourceRange = range && `bytes=${range.first}-${range.last}`
          const command = new UploadPartCopyCommand({ ...object, UploadId, PartNumber, CopySource, CopySourceRange })
          const { CopyPartResult } = await s3Call(client.send(command, options), signal)
          return { PartNumber, ETag: CopyPartResult?.ETag }
        })
        parts.push(...(await Promise.all(some)))
      }
    },
    async complete() {
      parts.sort((a, b) => (a.PartNumber ?? 0) - (b.PartNumber ?? 0))
      const command = new CompleteMultipartUploadCommand({ ...object, UploadId, MultipartUpload: { Parts: parts } })
      await s3Call(client.send(command, options), signal)
    },
  }
}

/** Aborting an upload that was already completed or aborted is not an error. */
export async function abortMultipart(client: S3Client, object: S3Object, uploadId: string): Promise<void> {
  try {
    await s3Call(client.send(new AbortMultipartUploadCommand({ ...object, UploadId: uploadId })))
  } catch (error) {
    if (!isAbsentObject(error)) throw error
  }
}

/** Selects the names in the bucket that begin with the prefix. */
interface S3Place {
  readonly Bucket: string
  readonly Prefix: string
}

/** @param place.StartAfter only the objects whose names come after this one */
export async function* objectsIn(
  client: S3Client,
  place: S3Place & { readonly StartAfter?: string | undefined },
): AsyncGenerator<_Object> {
  for await (const { Contents = [] } of pages((last?: ListObjectsV2CommandOutput) =>
    s3Call(client.send(new ListObjectsV2Command({ ...place, ContinuationToken: last?.NextContinuationToken }))),
  )) {
    yield* Contents
  }
}

/** Multipart uploads that were neither completed nor aborted. */
export async function* unfinishedIn(client: S3Client, place: S3Place): AsyncGenerator<MultipartUpload> {
  for await (const { Uploads = [] } of pages((last?: ListMultipartUploadsCommandOutput) => {
    const after = { KeyMarker: last?.NextKeyMarker, UploadIdMarker: last?.NextUploadIdMarker }
    return s3Call(client.send(new ListMultipartUploadsCommand({ ...place, ...after })))
  })) {
    yield* Uploads
  }
}

/** The number of received bytes; 0 when the upload has ended meanwhile. */
export async function sizeOfUnfinished(client: S3Client, bucket: string, upload: MultipartUpload): Promise<Bytes> {
  const object = { Bucket: bucket, Key: upload.Key, UploadId: upload.UploadId }
  let size = 0
  try {
    for await (const { Parts = [] } of pages((last?: ListPartsCommandOutput) =>
      s3Call(client.send(new ListPartsCommand({ ...object, PartNumberMarker: last?.NextPartNumberMarker }))),
    )) {
      for (const { Size = 0 } of Parts) size += Size
    }
  } catch (error) {
    if (!isAbsentObject(error)) throw error
    return 0
  }
  return size
}

/** The client's own paging uses the marker, which Ceph sends on the last page too, and would never end. */
async function* pages<Page extends { IsTruncated?: boolean | undefined }>(
  ask: (last: Page | undefined) => Promise<Page>,
): AsyncGenerator<Page> {
  let page: Page | undefined
  do {
    page = await ask(page)
    yield page
  } while (page.IsTruncated === true)
}
