import { withStatus } from '../../base/error-text.ts'

export const passkeyCodes = {
  ...withStatus(400, {
    'invalid-passkey': {
      title: 'Passkey not accepted',
      help: 'The new passkey is for another service or session, or its response is late or was already used. Request new options and try again.',
    },
  }),
  ...withStatus(401, {
    'passkey-refused': {
      title: 'Passkey refused',
      help: 'The passkey is not known here, or its response is wrong, late or was already used. Request new options and try again.',
    },
  }),
  ...withStatus(403, {
    'passkey-login-off': {
      title: 'Sign-in with a passkey not possible',
      help: 'The passkey is right, but this user must sign in through an identity provider.',
    },
  }),
}

declare module '../../base/error-codes.ts' {
  interface ErrorCodes {
    passkeys: keyof typeof passkeyCodes
  }
}
