import { isoTime } from '../../base/times.ts'
import type { BaseAddress } from '../../http/base-address.ts'
import { flag, optional, text } from '../../http/interface/schema.ts'
import { count, time } from '../../http/interface/shared-schemas.ts'
import { RELATIVE } from '../../graph/graph.ts'
import type { ResumableUpload } from './resumable-upload.ts'

/** Members of an unfinished upload, for its user and for those against whose quota it counts. */
export const uploadMembers = {
  uri: text(),
  context: text(),
  entry: text(),
  fileName: optional(text()),
  partial: optional(flag),
  length: count,
  received: count,
  expires: time,
} as const

export type UploadAddress = Pick<ResumableUpload, 'context' | 'entry' | 'id'>

export const uploadUri = ({ context, entry, id }: UploadAddress): string =>
  `${RELATIVE}${context}/uploads/${entry}/${id}`

export const describeUpload = (
  base: BaseAddress,
  upload: UploadAddress & Pick<ResumableUpload, 'fileName' | 'isPartial' | 'length' | 'received' | 'expires'>,
) => ({
  uri: base.toAbsolute(uploadUri(upload)),
  context: upload.context,
  entry: upload.entry,
  ...(upload.fileName === null ? {} : { fileName: upload.fileName }),
  ...(upload.isPartial === 1 ? { partial: true } : {}),
  length: upload.length,
  received: upload.received,
  expires: isoTime(upload.expires),
})
