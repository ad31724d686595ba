import { withStatus } from '../../base/error-text.ts'

export const factorCodes = withStatus(403, {
  'second-factor-missing': {
    title: 'Second factor missing',
    help: 'This account must have a second factor. Add one with `POST /auth/factors`; until then, the service refuses other requests.',
  },
})

declare module '../../base/error-codes.ts' {
  interface ErrorCodes {
    factors: keyof typeof factorCodes
  }
}
