import { boolean, seconds } from '../../config/kinds.ts'

export const tokenSettings = {
  title: 'Access tokens',
  rows: {
    'service.auth.access-tokens': boolean({
      default: true,
      help: 'Users may create access tokens for programs, and requests may carry them.',
    }),
    'service.auth.access-tokens.max-age': seconds({
      min: 60,
      max: 315_360_000,
      default: 31_622_400,
      help: 'Maximum lifetime of an access token.',
    }),
  },
} as const
