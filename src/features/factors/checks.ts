import { SealedSecrets } from '../../accounts/sealed-secrets.ts'
import { findPrincipalNamed, normaliseName } from '../../accounts/users.ts'
import { StartupError } from '../../base/errors.ts'
import { realSystem } from '../../base/system.ts'
import type { Settings, SettingsOf } from '../../config/settings.ts'
import type { Database } from '../../stores/database.ts'
import { isMissing, readKeyFile } from '../../stores/key-file.ts'
import { schemaVersion } from '../../stores/migrations.ts'
import type { Core } from '../../core/core.ts'
import { type CheckResult, ok, problem, warning } from '../../core/check-result.ts'
import { tokenSecrets } from '../../core/sealing-keys.ts'
import { factorKeyFile } from '../../core/factor-key-file.ts'
import { readStore } from '../../core/open-store.ts'
import { factorsOfKind } from './factor-rows.ts'
import { FACTOR_STEP } from './schema-steps.ts'
import type { factorSettings } from './settings.ts'

type FactorSettings = Settings & SettingsOf<typeof factorSettings.rows>

interface Subject {
  readonly settings: FactorSettings
  /** `SERVICE_AUTH_TOKEN_KEY`. */
  readonly tokenKey: string | undefined
}

/**
 * Checks who must have a second factor, whether these groups exist, and the keys that seal the secrets of authenticator apps. Creates
 * nothing.
 */
export async function checkFactors(subject: Subject): Promise<CheckResult[]> {
  const found = await readStoreWithFactors(subject.settings, async database => [
    ...(await checkGroups(subject.settings, database)),
    ...(await checkSecrets(subject, database)),
  ])
  return [describeFactors(subject.settings), ...(found ?? [])]
}

/** Settles like `read`; resolves to `undefined` where there is no store yet, or one of a version without second factors. */
export async function readStoreWithFactors<T>(
  settings: Settings,
  read: (database: Database) => Promise<T>,
): Promise<T | undefined> {
  const readNew = async (database: Database) =>
    (await schemaVersion(database)) < FACTOR_STEP ? undefined : await read(database)
  return await readStore(settings, readNew).catch((error: unknown) => {
    if (error instanceof StartupError) return undefined
    throw error
  })
}

async function checkGroups(settings: FactorSettings, database: Database): Promise<CheckResult[]> {
  const found: CheckResult[] = []
  for (const name of settings['service.auth.second-factor.groups.<n>']) {
    if ((await findPrincipalNamed(database, normaliseName(name))) !== undefined) continue
    found.push(
      warning(
        'factor-group-missing',
        'second factors: there is no group "{name}" (service.auth.second-factor.groups.<n>)',
        { name },
      ),
    )
  }
  return found
}

/** Who must have a second factor. */
function describeFactors(settings: FactorSettings): CheckResult {
  const requirement = settings['service.auth.second-factor']
  if (requirement === 'off') return ok('factors-off', 'second factors: off: none can be added')
  if (requirement === 'all') return ok('factors-for-all', 'second factors: required of all users')
  const isForAdmins = requirement === 'admins'
  const groups = settings['service.auth.second-factor.groups.<n>'].map(name => `"${name}"`).join(', ')
  if (groups === '')
    return isForAdmins
      ? ok('factors-for-admins', 'second factors: required of administrators')
      : ok('factors-optional', 'second factors: optional')
  return isForAdmins
    ? ok('factors-for-admins-and-groups', 'second factors: required of administrators and members of {groups}', {
        groups,
      })
    : ok('factors-for-groups', 'second factors: required of members of {groups}', { groups })
}

async function checkSecrets({ settings, tokenKey }: Subject, database: Database): Promise<CheckResult[]> {
  const apps = await factorsOfKind(database, 'totp')
  if (apps.length === 0) return []
  try {
    const file = factorKeyFile(settings)
    const lost = await lossOfKey(file, apps.length)
    if (lost !== undefined) return [lost]
    const machine = { system: realSystem, tokenKey }
    const keys = file === undefined ? await tokenSecrets(settings, machine) : await readKeyFile(file, realSystem)
    const secrets = new SealedSecrets(async () => keys, realSystem, 'second factor')
    const opened = await Promise.all(apps.map(({ secret, userId }) => secrets.open(secret, userId)))
    const sealedOtherwise = opened.filter(secret => secret === undefined).length
    const count = apps.length
    if (sealedOtherwise === 0) {
      return [
        ok('apps', 'second factors: {count, plural, one {# authenticator app} other {# authenticator apps}}', {
          count,
        }),
      ]
    }
    return [
      problem(
        'app-key-missing',
        'second factors: {sealed, plural, one {# authenticator app is} other {# authenticator apps are}} sealed with a key that is missing, of {count} in all; restore the key from a copy',
        { count, sealed: sealedOtherwise },
      ),
    ]
  } catch (error) {
    if (!(error instanceof StartupError)) throw error
    return [problem('app-keys-unusable', 'second factors: {reason}', { reason: error.message })]
  }
}

/** What users lose because the key file is missing; `undefined` if they lose nothing. */
async function lossOfKey(file: string | undefined, apps: number): Promise<CheckResult | undefined> {
  if (apps === 0 || file === undefined || !(await isMissing(file))) return undefined
  return problem(
    'app-key-file-missing',
    'second factors: the key file {file} is missing, so {apps, plural, one {# authenticator app} other {# authenticator apps}} cannot be used; restore it from a copy',
    { file, apps },
  )
}

/** Logs a lost key file at the start: the next user who adds an app would make a new one. */
export async function warnOfLostKey(
  settings: Settings,
  { database, log }: Pick<Core, 'database' | 'log'>,
): Promise<void> {
  const lost = await lossOfKey(factorKeyFile(settings), (await factorsOfKind(database, 'totp')).length)
  if (lost !== undefined) log.error(lost.text)
}
