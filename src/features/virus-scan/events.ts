export const virusScanEvents = ['virus-found'] as const

declare module '../../accounts/audit.ts' {
  interface AuditEvents {
    virusScan: (typeof virusScanEvents)[number]
  }
}
