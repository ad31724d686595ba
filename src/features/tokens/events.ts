export const tokenEvents = ['access-token-created', 'access-token-revoked'] as const

declare module '../../accounts/audit.ts' {
  interface AuditEvents {
    tokens: (typeof tokenEvents)[number]
  }
}
