/** The checks of CAS and SAML 1.1 that can refuse a sign-on. */
export const casChecks = [
  'cas-failure',
  'cas-gateway',
  'cas-proxy',
  'cas-reply',
  'cas-reply-size',
  'cas-unreachable',
  'not-before',
  'ticket',
] as const

declare module '../sso/refusal.ts' {
  interface SsoChecks {
    cas: (typeof casChecks)[number]
  }
}
