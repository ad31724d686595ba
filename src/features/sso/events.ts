export const ssoEvents = ['groups-changed', 'profile-changed'] as const

declare module '../../accounts/audit.ts' {
  interface AuditEvents {
    sso: (typeof ssoEvents)[number]
  }
}
