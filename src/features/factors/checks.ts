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
  return [ok(`second factors: ${describeFactors(subject.settings)}`), ...(found ?? [])]
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
    found.push(warning(`second factors: there is no group "${name}" (service.auth.second-factor.groups.<n>)`))
  }
  return found
}

/** Who must have a second factor. */
function describeFactors(settings: FactorSettings): string {
  const requirement = settings['service.auth.second-factor']
  if (requirement === 'off') return 'off: none can be added'
  if (requirement === 'all') return 'required of all users'
  const groups = settings['service.auth.second-factor.groups.<n>'].map(name => `the group "${name}"`)
  const required = [...(requirement === 'admins' ? ['administrators'] : []), ...groups]
  return required.length === 0 ? 'optional' : `required of ${required.join(', ')}`
}

async function checkSecrets({ settings, tokenKey }: Subject, database: Database): Promise<CheckResult[]> {
  const apps = await factorsOfKind(database, 'totp')
  if (apps.length === 0) return []
  try {
    const file = factorKeyFile(settings)
    const lost = await lossOfKey(file, apps.length)
    if (lost !== undefined) return [problem(`second factors: ${lost}`)]
    const machine = { system: realSystem, tokenKey }
    const keys = file === undefined ? await tokenSecrets(settings, machine) : await readKeyFile(file, realSystem)
    const secrets = new SealedSecrets(async () => keys, realSystem, 'second factor')
    const opened = await Promise.all(apps.map(({ secret, userId }) => secrets.open(secret, userId)))
    const sealedOtherwise = opened.filter(secret => secret === undefined).length
    if (sealedOtherwise === 0) return [ok(`second factors: ${apps.length} authenticator apps`)]
    return [
      problem(
        `second factors: ${sealedOtherwise} of ${apps.length} authenticator apps are sealed with a key that is missing`,
      ),
    ]
  } catch (error) {
    if (!(error instanceof StartupError)) throw error
    return [problem(`second factors: ${error.message}`)]
  }
}

/** What users lose because the key file is missing, for people; `undefined` if they lose nothing. */
async function lossOfKey(file: string | undefined, apps: number): Promise<string | undefined> {
  if (apps === 0 || file === undefined || !(await isMissing(file))) return undefined
  return `the key file ${file} is missing, so the secrets of ${apps} authenticator apps cannot be opened; restore it from a copy`
}

/** Logs a lost key file at the start: the next user who adds an app would make a new one. */
export async function warnOfLostKey(
  settings: Settings,
  { database, log }: Pick<Core, 'database' | 'log'>,
): Promise<void> {
  const lost = await lossOfKey(factorKeyFile(settings), (await factorsOfKind(database, 'totp')).length)
  if (lost !== undefined) log.error(lost)
}
