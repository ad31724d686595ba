import { backupKeys } from './backup-keys.ts'
import { factorKeys } from './factor-keys.ts'
import { fileKeys, repositoryKeys, virusScanKeys } from './content-keys.ts'
import { lockoutKeys, mailKeys, passwordKeys, passwordRuleKeys } from './password-keys.ts'
import { addressKeys, corsKeys, operationKeys, proxyKeys } from './service-keys.ts'
import { sessionKeys } from './session-keys.ts'
import type { Setting } from './setting.ts'
import { oidcKeys } from './oidc-keys.ts'
import { casKeys, legacySamlKeys, samlKeys, ssoKeys } from './sso-keys.ts'

/** The sections of docs/configuration.md, in its order. */
export const groups = {
  'Addresses and requests': addressKeys,
  'Cookie and tokens': sessionKeys,
  Passwords: passwordKeys,
  'Password rules': passwordRuleKeys,
  Lockout: lockoutKeys,
  'Second factors': factorKeys,
  'Password reset by e-mail': mailKeys,
  'Single sign-on': ssoKeys,
  'SAML 2.0': samlKeys,
  'SAML 2.0, deprecated settings for one identity provider': legacySamlKeys,
  'OpenID Connect': oidcKeys,
  'CAS and SAML 1.1': casKeys,
  'Files and quota': fileKeys,
  'Virus scan': virusScanKeys,
  Backups: backupKeys,
  'Contexts, entries and search': repositoryKeys,
  'Cross-origin requests': corsKeys,
  'Documents of other servers': proxyKeys,
  Operation: operationKeys,
} as const satisfies Readonly<Record<string, Readonly<Record<string, Setting>>>>

type Table = (typeof groups)[keyof typeof groups]
type KeyOf<T> = T extends Table ? keyof T : never
export type Key = KeyOf<Table>

/**
 * All keys with their meaning (D10.2). `<n>` stands for the numbers 1, 2, 3… of a list without gaps, `<idp>` for the name of
 * an identity provider, another word at the end for a name that the operator chooses.
 */
export const keys = Object.assign({}, ...Object.values(groups)) as {
  readonly [K in Key]: Extract<Table, Readonly<Record<K, Setting>>>[K]
}

/** The lists that define the names for `<idp>`: each protocol has its own. */
export const IDP_LISTS = ['service.auth.saml.idps.<n>', 'service.auth.oidc.idps.<n>'] as const satisfies readonly Key[]

/** The rows as the loader uses them: without the type of each value. */
export const rows: ReadonlyArray<readonly [key: Key, setting: Setting]> = Object.entries(keys) as Array<[Key, Setting]>
