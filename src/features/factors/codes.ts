import { withStatus } from '../../base/error-text.ts'

export const factorCodes = withStatus(403, {
  'second-factor-missing': {
    title: 'Second factor missing',
    help: 'This account must have a second factor. Until one is added, only that is possible: `POST /auth/factors`.',
  },
})

declare module '../../base/error-codes.ts' {
  interface ErrorCodes {
    factors: keyof typeof factorCodes
  }
}
