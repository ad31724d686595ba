import { withStatus } from '../../base/error-text.ts'

export const casCodes = {
  ...withStatus(400, {
    'invalid-logout-request': {
      title: 'Invalid logout request',
      help: '`logoutRequest` is a SAML 2.0 `LogoutRequest` in plain XML, with one service ticket as its `SessionIndex`.',
    },
  }),
}

declare module '../../base/error-codes.ts' {
  interface ErrorCodes {
    cas: keyof typeof casCodes
  }
}
