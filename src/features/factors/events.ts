export const factorEvents = [
  'factor-added',
  'factor-removed',
  'factor-used',
  'recovery-code-used',
  'recovery-codes-created',
] as const

declare module '../../accounts/audit.ts' {
  interface AuditEvents {
    factors: (typeof factorEvents)[number]
  }
}
