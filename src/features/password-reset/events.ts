export const resetEvents = ['password-reset-requested', 'password-reset'] as const

declare module '../../accounts/audit.ts' {
  interface AuditEvents {
    passwordReset: (typeof resetEvents)[number]
  }
}
