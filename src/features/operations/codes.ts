import { withStatus } from '../../base/error-text.ts'

export const operationCodes = {
  ...withStatus(413, {
    'operation-too-large': {
      title: 'Too many entries',
      help: 'One operation changes at most `limit` entries. Select fewer entries.',
    },
  }),
  ...withStatus(429, {
    'too-many-operations': {
      title: 'Too many operations',
      help: 'At most `limit` operations of one user run at a time. Wait for one of them, or cancel one.',
    },
  }),
}

declare module '../../base/error-codes.ts' {
  interface ErrorCodes {
    operations: keyof typeof operationCodes
  }
}
