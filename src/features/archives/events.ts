export const archiveEvents = ['context-exported', 'context-imported'] as const

declare module '../../accounts/audit.ts' {
  interface AuditEvents {
    archives: (typeof archiveEvents)[number]
  }
}
