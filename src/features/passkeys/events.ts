export const passkeyEvents = ['passkey-counter-mismatch'] as const

declare module '../../accounts/audit.ts' {
  interface AuditEvents {
    passkeys: (typeof passkeyEvents)[number]
  }
}
