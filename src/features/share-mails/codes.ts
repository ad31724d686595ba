import { withStatus } from '../../base/error-text.ts'

export const shareMailCodes = withStatus(429, {
  'too-many-messages': {
    title: 'Too many messages',
    help: 'You have sent as many messages as one user may send in an hour. Try again after `Retry-After` seconds.',
  },
})

declare module '../../base/error-codes.ts' {
  interface ErrorCodes {
    shareMails: keyof typeof shareMailCodes
  }
}
