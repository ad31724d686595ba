import {
  type _Object,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  ListPartsCommand,
  type ListPartsCommandOutput,
  type MultipartUpload,
  type S3Client,
} from '@aws-sdk/client-s3'
import type { Bytes } from '../../base/units.ts'
import { isAbsentObject, s3Call } from './s3-client.ts'

/** Selects the names in the bucket that begin with the prefix. */
interface S3Place {
  readonly Bucket: string
  readonly Prefix: string
}

export async function* objectsIn(client: S3Client, place: S3Place): AsyncGenerator<_Object> {
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
