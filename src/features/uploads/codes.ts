import { withStatus } from '../../base/error-text.ts'

export const uploadCodes = {
  ...withStatus(409, {
    'upload-offset': {
      title: 'Wrong offset',
      help: '`Upload-Offset` is not the offset of the upload. Ask for the offset with `HEAD`, and send the bytes from this offset on.',
    },
  }),
  ...withStatus(410, {
    'upload-expired': { title: 'Upload expired', help: 'Nothing was received for too long. Create a new upload.' },
  }),
  ...withStatus(412, {
    'tus-version': {
      title: 'Unknown version',
      help: '`Tus-Resumable` is missing, or names a version of tus that is not supported. `Tus-Version` of the response lists the supported versions.',
    },
  }),
  ...withStatus(413, {
    'upload-too-long': {
      title: 'More than declared',
      help: 'The request has more bytes than `Upload-Length` declared. None of its bytes were stored. Send only the missing bytes, or create an upload with the right length.',
    },
    'too-much-reserved': {
      title: 'Too much reserved',
      help: 'The resumable uploads of one user may reserve at most half of the quota of another user, and at most half of the quota of the store; `owner` says whose quota it is. Finish or delete some uploads, or send the file in one request.',
    },
  }),
  ...withStatus(423, {
    'upload-locked': {
      title: 'Upload being completed',
      help: 'The service is completing the upload, or another request is using one of its parts. Ask again in some seconds.',
    },
  }),
  ...withStatus(460, {
    'upload-checksum': {
      title: 'Wrong checksum',
      help: 'The bytes differ from `Upload-Checksum`, so none of them were stored. Send the request again.',
    },
  }),
}

declare module '../../base/error-codes.ts' {
  interface ErrorCodes {
    uploads: keyof typeof uploadCodes
  }
}
