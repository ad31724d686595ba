import { withStatus } from '../../base/error-text.ts'

export const samlCodes = {
  ...withStatus(400, {
    'invalid-logout-message': {
      title: 'Invalid logout message',
      help: 'The message is not a signed `LogoutRequest` or `LogoutResponse` of this identity provider for this service, is too old, or came for the second time. `detail` names the check; `GET /management/sso` shows the values.',
    },
  }),
}

declare module '../../base/error-codes.ts' {
  interface ErrorCodes {
    saml: keyof typeof samlCodes
  }
}
