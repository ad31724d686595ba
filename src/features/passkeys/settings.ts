import { choice } from '../../config/kinds.ts'

export const passkeySettings = {
  title: 'Passkeys',
  rows: {
    'service.auth.passkeys': choice(['sign-in', 'factor', 'off'], {
      sameOnAllNodes: true,
      default: 'sign-in',
      help: 'Passkeys: also instead of the password, only as second factor, or not at all. Browsers offer them only if `service.baseurl.folder` has a host name and is https, or `http://localhost`.',
    }),
  },
} as const
