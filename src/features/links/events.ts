export const linkEvents = ['link-created', 'link-changed', 'link-revoked', 'link-used', 'link-refused'] as const

declare module '../../accounts/audit.ts' {
  interface AuditEvents {
    links: (typeof linkEvents)[number]
  }
}
