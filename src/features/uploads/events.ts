export const uploadEvents = ['upload-ended'] as const

declare module '../../accounts/audit.ts' {
  interface AuditEvents {
    uploads: (typeof uploadEvents)[number]
  }
}
