export const trashEvents = ['entry-trashed', 'trash-deleted'] as const

declare module '../../accounts/audit.ts' {
  interface AuditEvents {
    trash: (typeof trashEvents)[number]
  }
}
