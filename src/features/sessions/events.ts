export const sessionEvents = ['token-removed'] as const

declare module '../../accounts/audit.ts' {
  interface AuditEvents {
    sessions: (typeof sessionEvents)[number]
  }
}
