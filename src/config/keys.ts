import { factorKeys } from './factor-keys.ts'
import { fileKeys, repositoryKeys, virusScanKeys } from './content-keys.ts'
import { lockoutKeys, mailKeys, passwordKeys, passwordRuleKeys } from './password-keys.ts'
import { addressKeys, corsKeys, operationKeys, proxyKeys } from './service-keys.ts'
import { sessionKeys } from './session-keys.ts'
import type { Setting } from './setting.ts'
import { oidcKeys } from './oidc-keys.ts'
import { casKeys, legacySamlKeys, samlKeys, ssoKeys } from './sso-keys.ts'

/** The sections of docs/configuration.md, in its order. */
export const groups: ReadonlyArray<{ readonly title: string; readonly keys: Readonly<Record<string, Setting>> }> = [
  { title: 'Addresses and requests', keys: addressKeys },
  { title: 'Cookie and tokens', keys: sessionKeys },
  { title: 'Passwords', keys: passwordKeys },
  { title: 'Password rules', keys: passwordRuleKeys },
  { title: 'Lockout', keys: lockoutKeys },
  { title: 'Second factors', keys: factorKeys },
  { title: 'Password reset by e-mail', keys: mailKeys },
  { title: 'Single sign-on', keys: ssoKeys },
  { title: 'SAML 2.0', keys: samlKeys },
  { title: 'SAML 2.0, deprecated settings for one identity provider', keys: legacySamlKeys },
  { title: 'OpenID Connect', keys: oidcKeys },
  { title: 'CAS and SAML 1.1', keys: casKeys },
  { title: 'Files and quota', keys: fileKeys },
  { title: 'Virus scan', keys: virusScanKeys },
  { title: 'Contexts, entries and search', keys: repositoryKeys },
  { title: 'Cross-origin requests', keys: corsKeys },
  { title: 'Documents of other servers', keys: proxyKeys },
  { title: 'Operation', keys: operationKeys },
]

/**
 * All keys with their meaning (D10.2). `<n>` stands for the numbers 1, 2, 3… of a list without gaps, `<idp>` for the name of
 * an identity provider, another word at the end for a name that the operator chooses.
 */
export const keys = {
  ...addressKeys,
  ...sessionKeys,
  ...passwordKeys,
  ...passwordRuleKeys,
  ...lockoutKeys,
  ...factorKeys,
  ...mailKeys,
  ...ssoKeys,
  ...samlKeys,
  ...legacySamlKeys,
  ...oidcKeys,
  ...casKeys,
  ...fileKeys,
  ...virusScanKeys,
  ...repositoryKeys,
  ...corsKeys,
  ...proxyKeys,
  ...operationKeys,
} as const satisfies Readonly<Record<string, Setting>>

export type Key = keyof typeof keys

/** The lists that define the names for `<idp>`: each protocol has its own. */
export const IDP_LISTS = ['service.auth.saml.idps.<n>', 'service.auth.oidc.idps.<n>'] as const satisfies readonly Key[]

/** The rows as the loader uses them: without the type of each value. */
export const rows: ReadonlyArray<readonly [key: Key, setting: Setting]> = Object.entries(keys) as Array<[Key, Setting]>
