import { S3Client, S3ServiceException } from '@aws-sdk/client-s3'
import { StoreUnavailable } from '../../base/errors.ts'
import type { Milliseconds } from '../../base/units.ts'

export interface S3Options {
  /** Address of a server other than Amazon's; buckets are then part of the path, not of the host name. */
  readonly endpoint?: string | undefined
  /** If absent, the region of the usual environment variables; for a server other than Amazon's, `us-east-1`. */
  readonly region?: string | undefined
  /** How long a server may stay silent before the attempt fails; 10 s by default. */
  readonly timeout?: Milliseconds
}

export const TIMEOUT: Milliseconds = 10_000
const ATTEMPTS = 3
/** Readers hold a connection for as long as they like. With the usual 50, a few slow readers would use up all of them. */
const SOCKETS = 1024

/**
 * A client whose calls always end: each attempt fails once the server is silent for too long, and there are few attempts.
 * Readers may take their time, so the client for reading applies the timeout only up to the head of the response.
 * Credentials come from the same places that Amazon's tools use.
 */
export function createS3Client(purpose: 'read' | 'write', options: S3Options): S3Client {
  const { endpoint, region, timeout = TIMEOUT } = options
  const timeouts = purpose === 'read' ? { requestTimeout: timeout, socketTimeout: 0 } : { socketTimeout: timeout }
  return new S3Client({
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true, region: region ?? 'us-east-1' }),
    ...(region === undefined ? {} : { region }),
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
