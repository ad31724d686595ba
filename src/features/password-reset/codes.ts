import { withStatus } from '../../base/error-text.ts'

export const resetCodes = withStatus(400, {
  'invalid-reset-token': {
    title: 'Link expired or already used',
    help: 'The link to set a new password works once, for a day. Request a new one.',
  },
})

declare module '../../base/error-codes.ts' {
  interface ErrorCodes {
    passwordReset: keyof typeof resetCodes
  }
}
