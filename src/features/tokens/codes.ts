import { withStatus } from '../../base/error-text.ts'

export const tokenCodes = withStatus(401, {
  'invalid-access-token': {
    title: 'Invalid access token',
    help: 'The access token is unknown, expired, revoked, of a disabled user, or not accepted from this address. Create a new one that accepts your address.',
  },
})

declare module '../../base/error-codes.ts' {
  interface ErrorCodes {
    tokens: keyof typeof tokenCodes
  }
}
