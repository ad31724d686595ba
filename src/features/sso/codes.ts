import { withStatus } from '../../base/error-text.ts'

export const ssoCodes = {
  ...withStatus(400, {
    'invalid-redirect': {
      title: 'Redirect not allowed',
      help: '`successurl` and `failureurl` must be absolute http(s) addresses on the host of the service or on a whitelisted host.',
    },
  }),
  ...withStatus(401, {
    'sso-refused': {
      title: 'Sign-on refused',
      help: 'The sign-on failed a check, which `check` names. With `correlation`, the operator finds the details in the log and at `/management/sso`.',
    },
  }),
}

declare module '../../base/error-codes.ts' {
  interface ErrorCodes {
    sso: keyof typeof ssoCodes
  }
}
