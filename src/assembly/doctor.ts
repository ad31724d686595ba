import { ServiceError, StartupError } from '../base/errors.ts'
import type { Finding } from '../base/finding.ts'
import type { Bytes } from '../base/units.ts'
import type { LoadedSettings } from '../config/load.ts'
import type { Settings } from '../config/settings.ts'
import { features } from '../features/features.ts'
import { BaseAddress } from '../http/base-address.ts'
import { AuthCookie } from '../http/protocol/cookies.ts'
import { type CheckResult, ok, problem } from '../core/check-result.ts'
import { checkSettingsFile } from '../core/settings-file-check.ts'
import { newestSchema } from './stores.ts'
import { checkStore } from '../core/store-checks.ts'
import { MAX_CHECKED_AT_START } from '../core/stores.ts'
import { checkStorage } from '../core/storage-checks.ts'
import { cookieOptions } from './http.ts'

/** What `runChecks` checks. */
export interface Subject {
  readonly settings: Settings
  readonly origins: LoadedSettings['origins']
  /** Of the settings. */
  readonly warnings: readonly Finding[]
  /** Path of the configuration file. */
  readonly file: string | undefined
  /** `SERVICE_AUTH_TOKEN_KEY`. */
  readonly tokenKey: string | undefined
  /** Of this program. */
  readonly version: string
  /** Up to which size a database checks its data structures, which blocks the process; by default as at a start. */
  readonly maxChecked?: Bytes
}

/**
 * Checks addresses, disk, databases, keys, other nodes and identity providers. Nothing is created or changed. Opens connections
 * of its own and fetches metadata, so it can take seconds.
 */
export async function runChecks({
  settings,
  origins,
  warnings,
  file,
  tokenKey,
  version,
  maxChecked = MAX_CHECKED_AT_START,
}: Subject): Promise<readonly CheckResult[]> {
  const base = new BaseAddress(settings['service.baseurl.folder'] ?? defaultBase(settings))
  return [
    file === undefined
      ? ok('settings-built-in', 'settings: built in')
      : ok('settings-file', 'settings: {file}', { file }),
    ...(await checkSettingsFile({ settings, origins, file })),
    ok('base-address', 'base address: {url}', { url: base.href }),
    ok('cookie', 'cookie: {cookie}', {
      cookie: new AuthCookie(cookieOptions(settings, base.path)).set('…', undefined),
    }),
    ...warnings.map(one => ({ ...one, level: 'warning' as const })),
    ...(await checkStorage({ settings, tokenKey, version })),
    ...(await attempt(checkStore(settings, { newestSchema, maxChecked }))),
    ...(await Promise.all(features.map(feature => attempt(feature.check(settings, tokenKey))))).flat(),
  ].filter(({ text }, index, all) => all.findIndex(other => other.text === text) === index)
}

/** Several checks read the store, and any of them may be the first to find that it cannot be used. */
async function attempt(check: Promise<readonly CheckResult[]>): Promise<readonly CheckResult[]> {
  try {
    return await check
  } catch (error) {
    if (error instanceof StartupError || error instanceof ServiceError)
      return [problem('store-unusable', 'store: {reason}', { reason: error.message })]
    throw error
  }
}

const defaultBase = (settings: Settings): string => `http://127.0.0.1:${settings['service.http.port']}/`
