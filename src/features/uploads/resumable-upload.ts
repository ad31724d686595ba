import { Conflict, NotFound, TooLarge } from '../../base/errors.ts'
import type { Bytes, Milliseconds } from '../../base/units.ts'
import type { FileRecord } from '../../files/file-records.ts'
import type { Payers } from '../../files/quota-usage.ts'

/** An upload that arrives in several requests. */
export interface ResumableUpload {
  readonly id: string
  /** Id of the user who uploads. */
  readonly uploader: string
  readonly context: string
  readonly entry: string
  readonly blob: string
  readonly length: Bytes
  /** The number of durable bytes. */
  readonly received: Bytes
  readonly mediaType: string
  readonly fileName: string | null
  /** `Upload-Metadata`, as the client sent it. */
  readonly metadata: string | null
  /** `Upload-Concat` of an upload that is joined of parts, as the client sent it. */
  readonly concat: string | null
  /** 1 for an upload that is later joined with others to one file (tus: partial). */
  readonly isPartial: number
  /** 1 if the entry was created for it, and is of no use without its file. */
  readonly isEntryNew: number
  /** 1 once the file is in its place. */
  readonly isDone: number
  readonly expires: Milliseconds
  /** 1 if it has expired. */
  readonly isExpired: number
  /** 1 while a request adds bytes or completes it. */
  readonly isClaimed: number
}

/** An upload to which no other request adds bytes. */
export interface ClaimedUpload extends ResumableUpload {
  /** Names the request. */
  readonly claim: string
}

export interface NewUpload {
  readonly uploader: string
  /** Whether the uploader gets no more than a share of the quotas of others. */
  readonly hasShare: boolean
  readonly payers: Payers
  readonly entry: string
  readonly length: Bytes
  readonly mediaType: string
  readonly fileName: string | undefined
  readonly metadata: string | undefined
  readonly isPartial: boolean
  readonly isEntryNew: boolean
  readonly replaced: FileRecord | undefined
}

export const unknownUpload = (): NotFound => new NotFound('not-found', 'There is no such upload.')

/** Another request has gone on with the upload, from the last recorded offset. */
export class TakenOver extends Conflict {
  constructor() {
    super('upload-offset', 'Another request has gone on with this upload: ask for its offset.')
  }
}

export const wrongOffset = (detail: string): Conflict => new Conflict('upload-offset', detail)

export const tooLong = ({ length }: ResumableUpload): TooLarge =>
  new TooLarge('upload-too-long', `The upload was declared with ${length} bytes, but more have been sent.`, {
    extra: { limit: length },
  })
