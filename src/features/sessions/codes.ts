import { withStatus } from '../../base/error-text.ts'

export const sessionCodes = withStatus(404, {
  'unknown-token': {
    title: 'Unknown token',
    help: 'None of your sessions has this token. `GET /auth/tokens` lists them.',
  },
})

declare module '../../base/error-codes.ts' {
  interface ErrorCodes {
    sessions: keyof typeof sessionCodes
  }
}
