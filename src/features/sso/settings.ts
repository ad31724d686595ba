import { choice } from '../../config/kinds.ts'
import { allLiveBut } from '../../config/setting.ts'

/** Sign-on by others, whichever protocol. */
export const ssoSettings = {
  title: 'Single sign-on',
  rows: allLiveBut([], {
    'service.auth.sso.landing': choice(['redirect', 'page'], {
      default: 'redirect',
      help: 'How a finished sign-on continues: by redirect, or by a page of this service (for strict cookies).',
    }),
  } as const),
  removed: {
    'service.auth.sso.absolute-max-age':
      'sessions by identity providers end like all others: set service.auth.token.absolute-max-age',
  },
} as const
