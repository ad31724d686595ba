import { fileKeys, repositoryKeys } from './content-keys.ts'
import { lockoutKeys, mailKeys, passwordKeys, passwordRuleKeys } from './password-keys.ts'
import { addressKeys, corsKeys, operationKeys } from './service-keys.ts'
import { sessionKeys } from './session-keys.ts'
import type { Setting } from './setting.ts'

/** The settings of the core, by section of docs/configuration.md, in its order. */
export const coreGroups = {
  'Addresses and requests': addressKeys,
  'Cookie and tokens': sessionKeys,
  Passwords: passwordKeys,
  'Password rules': passwordRuleKeys,
  Lockout: lockoutKeys,
  'Mail server': mailKeys,
  Files: fileKeys,
  'Contexts and entries': repositoryKeys,
  'Cross-origin requests': corsKeys,
  Operation: operationKeys,
} as const satisfies Readonly<Record<string, Readonly<Record<string, Setting>>>>

type Table = (typeof coreGroups)[keyof typeof coreGroups]
type KeyOf<T> = T extends Table ? keyof T : never
export type Key = KeyOf<Table>

/** The rows of the core. */
export type CoreKeys = { readonly [K in Key]: Extract<Table, Readonly<Record<K, Setting>>>[K] }
