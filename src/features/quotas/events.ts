export const quotaEvents = ['quota-changed', 'quota-threshold'] as const

declare module '../../accounts/audit.ts' {
  interface AuditEvents {
    quotas: (typeof quotaEvents)[number]
  }
}
