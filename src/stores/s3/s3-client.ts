import { S3Client, S3ServiceException } from '@aws-sdk/client-s3'
import { StoreUnavailable } from '../../base/errors.ts'
import type { Milliseconds } from '../../base/units.ts'

export interface S3Options {
  /** A server other than Amazon's; buckets are then part of the path, not of the host name. */
  readonly endpoint?: string | undefined
  /** Without it, that of the usual environment; of another server than Amazon's, `us-east-1`. */
  readonly region?: string | undefined
  /** So long a server may stay silent before the attempt counts as failed; 10 s by default. */
  readonly timeout?: Milliseconds
}

export const TIMEOUT: Milliseconds = 10_000
const ATTEMPTS = 3
/** Readers hold a connection for as long as they like; the usual 50 would be all a few slow ones leave to the others. */
const SOCKETS = 1024

/**
 * A client whose calls end: each attempt fails once the server is silent for too long, and there are few attempts. Who
 * reads takes the time he wants, so the client for reading counts the time up to the head of the answer only.
 * Credentials come from where Amazon's tools look for them.
 */
export function createS3Client(purpose: 'read' | 'write', options: S3Options): S3Client {
  const { endpoint, region, timeout = TIMEOUT } = options
  const timeouts = purpose === 'read' ? { requestTimeout: timeout, socketTimeout: 0 } : { socketTimeout: timeout }
  return new S3Client({
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true, region: region ?? 'us-east-1' }),
    ...(region === undefined ? {} : { region }),
    maxAttempts: ATTEMPTS,
    // Servers other than Amazon's refuse the trailing checksums that are sent by default, or store them as content.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // It would take a new connection for each part.
    expectContinueHeader: false,
    requestHandler: {
      connectionTimeout: Math.min(timeout, 3000),
      throwOnRequestTimeout: true,
      ...timeouts,
      httpAgent: { maxSockets: SOCKETS },
      httpsAgent: { maxSockets: SOCKETS },
    },
  })
}

/**
 * The result of a call. @throws the reason of `signal` when it has aborted, {@link StoreUnavailable} when there is no
 * server or when it refuses us, and its own error when it says that the object is not there.
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

/** The object or unfinished upload that was named is not there; a bucket that is not there is another matter. */
export const isAbsentObject = (error: unknown): boolean =>
  error instanceof S3ServiceException && ['NoSuchKey', 'NoSuchUpload'].includes(error.name)
