export const shareMailEvents = ['message-sent'] as const

declare module '../../accounts/audit.ts' {
  interface AuditEvents {
    shareMails: (typeof shareMailEvents)[number]
  }
}
