import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  type CompletedPart,
  CreateMultipartUploadCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { TooLarge } from '../../base/errors.ts'
import type { Bytes } from '../../base/units.ts'
import { isAbsentObject, s3Call } from './s3-client.ts'

/** Smaller blobs are one request. All parts except the last need at least 5 MiB. */
export const PART: Bytes = 8 * 2 ** 20
/** For the parts after {@link SMALL_PARTS}, because there are at most 10 000 parts. */
const LARGE_PART: Bytes = 64 * 2 ** 20
const SMALL_PARTS = 1000
const MAX_PARTS = 10_000
/** Maximum size of an object: 570 GiB. */
const MAX_OBJECT: Bytes = SMALL_PARTS * PART + (MAX_PARTS - SMALL_PARTS) * LARGE_PART

/** Size of the part with this number, counted from 1. @throws {TooLarge} when the number exceeds the maximum. */
export function partSize(number: number): Bytes {
  if (number <= MAX_PARTS) return number <= SMALL_PARTS ? PART : LARGE_PART
  const detail = `A file may have at most ${MAX_OBJECT} bytes.`
  throw new TooLarge('file-too-large', detail, { extra: { limit: MAX_OBJECT } })
}

/** An object's place in a bucket. */
export interface S3Object {
  readonly Bucket: string
  readonly Key: string
}

/** A multipart upload. The object exists once the parts have been completed. */
export interface S3Multipart {
  /** Must be called for one part after the other. */
  add(bytes: Uint8Array): Promise<void>
  complete(): Promise<void>
}

export async function beginMultipart(client: S3Client, object: S3Object, signal: AbortSignal): Promise<S3Multipart> {
  const options = { abortSignal: signal }
  const { UploadId } = await s3Call(client.send(new CreateMultipartUploadCommand(object), options), signal)
  const parts: CompletedPart[] = []
  return {
    async add(bytes) {
      const PartNumber = parts.length + 1
      const command = new UploadPartCommand({ ...object, UploadId, PartNumber, Body: bytes })
      const { ETag } = await s3Call(client.send(command, options), signal)
      parts.push({ PartNumber, ETag })
    },
    async complete() {
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
