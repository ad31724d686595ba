export const operationEvents = ['operation-ended'] as const

declare module '../../accounts/audit.ts' {
  interface AuditEvents {
    operations: (typeof operationEvents)[number]
  }
}
