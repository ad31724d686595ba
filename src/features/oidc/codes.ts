import { withStatus } from '../../base/error-text.ts'

export const oidcCodes = {
  ...withStatus(400, {
    'invalid-logout-token': {
      title: 'Invalid logout token',
      help: 'The token is not a logout token of a provider of this service, or it came for the second time. `detail` names the check.',
    },
  }),
}

declare module '../../base/error-codes.ts' {
  interface ErrorCodes {
    oidc: keyof typeof oidcCodes
  }
}
