/** The checks of OpenID Connect that can refuse a sign-on. */
export const oidcChecks = [
  'authorization',
  'browser',
  'logout-events',
  'logout-iat',
  'logout-jti',
  'logout-nonce',
  'logout-sid',
  'logout-subject',
  'name-claim',
  'oidc-response',
  'provider-unreachable',
  'response-iss',
  'response-state',
  'state',
  'token-acr',
  'token-algorithm',
  'token-at_hash',
  'token-aud',
  'token-auth_time',
  'token-azp',
  'token-endpoint',
  'token-exp',
  'token-form',
  'token-iat',
  'token-iss',
  'token-key',
  'token-nbf',
  'token-nonce',
  'token-signature',
  'token-size',
  'token-sub',
] as const

declare module '../sso/refusal.ts' {
  interface SsoChecks {
    oidc: (typeof oidcChecks)[number]
  }
}

export const isOidcCheck = (text: string): text is (typeof oidcChecks)[number] =>
  (oidcChecks as readonly string[]).includes(text)
