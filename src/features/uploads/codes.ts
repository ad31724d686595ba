import { withStatus } from '../../base/error-text.ts'

export const uploadCodes = {
  ...withStatus(409, {
    'upload-offset': {
      title: 'Wrong offset',
      help: 'Ask for the offset with HEAD, and send the bytes from this offset on.',
    },
  }),
  ...withStatus(410, {
    'upload-expired': { title: 'Upload expired', help: 'Nothing was received for too long. Create a new upload.' },
  }),
  ...withStatus(412, {
    'tus-version': { title: 'Unknown version', help: '`Tus-Version` of the response lists the versions.' },
  }),
  ...withStatus(413, {
    'upload-too-long': {
      title: 'More than declared',
      help: 'The request has more bytes than `Upload-Length` declared. Only the declared bytes were stored.',
    },
    'too-much-reserved': {
      title: 'Too much reserved',
      help: 'The resumable uploads of one user may reserve at most half of the quota of another user, and at most half of the quota of the store; `owner` says whose quota it is. Finish or delete some uploads, or send the file in one request.',
    },
  }),
  ...withStatus(423, {
    'upload-locked': {
      title: 'Upload being completed',
      help: 'The service is completing the upload. Ask again in some seconds.',
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
