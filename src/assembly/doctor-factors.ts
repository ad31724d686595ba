import { factorsOfKind } from '../accounts/factors/factor-rows.ts'
import { SealedSecrets } from '../accounts/sealed-secrets.ts'
import { userHandleOf } from '../accounts/factors/passkeys.ts'
import { findPrincipalNamed, normaliseName } from '../accounts/users.ts'
import { StartupError } from '../base/errors.ts'
import { realSystem } from '../base/system.ts'
import type { Settings } from '../config/settings.ts'
import type { Database } from '../stores/database.ts'
import { isMissing, readKeyFile } from '../stores/key-file.ts'
import { schemaVersion } from '../stores/migrations.ts'
import { type CheckResult, ok, problem, warning } from './check-result.ts'
import { tokenSecrets } from './ephemeral-stores.ts'
import { factorKeyFile, relyingPartyOfSettings } from './factors.ts'
import { openDatabase } from './stores.ts'

/** The schema step that created the tables. */
const FACTOR_STEP = 27

interface Subject {
  readonly settings: Settings
  /** `SERVICE_AUTH_TOKEN_KEY`. */
  readonly tokenKey: string | undefined
  readonly version: string
}

/** The groups that must have second factors, and the keys that seal the secrets of authenticator apps. Nothing is created. */
export async function checkFactors(subject: Subject): Promise<CheckResult[]> {
  const database = await openDatabase(subject.settings, realSystem, { readOnly: true }).catch((error: unknown) => {
    // There is none before the first start.
    if (error instanceof StartupError) return undefined
    throw error
  })
  if (!database) return []
  try {
    if ((await schemaVersion(database)) < FACTOR_STEP) return []
    return [
      ...(await checkGroups(subject.settings, database)),
      ...(await checkSecrets(subject, database)),
      ...(await checkPasskeys(subject.settings, database)),
    ]
  } finally {
    await database.close()
  }
}

async function checkGroups(settings: Settings, database: Database): Promise<CheckResult[]> {
  const found: CheckResult[] = []
  for (const name of settings['service.auth.second-factor.groups.<n>']) {
    if ((await findPrincipalNamed(database, normaliseName(name))) !== undefined) continue
    found.push(warning(`second factors: there is no group "${name}" (service.auth.second-factor.groups.<n>)`))
  }
  return found
}

/** Who must have a second factor. */
export function describeFactors(settings: Settings): string {
  const requirement = settings['service.auth.second-factor']
  if (requirement === 'off') return 'off: none can be added'
  if (requirement === 'all') return 'required of all users'
  const groups = settings['service.auth.second-factor.groups.<n>'].map(name => `the group "${name}"`)
  const required = [...(requirement === 'admins' ? ['administrators'] : []), ...groups]
  return required.length === 0 ? 'optional' : `required of ${required.join(', ')}`
}

/** Passkeys belong to the host of the base address that they were added at. */
async function checkPasskeys(settings: Settings, database: Database): Promise<CheckResult[]> {
  const passkeys = await factorsOfKind(database, 'passkey')
  if (passkeys.length === 0) return []
  const base = settings['service.baseurl.folder']
  const count = `${passkeys.length} passkeys`
  if (base === undefined || settings['service.auth.passkeys'] === 'off' || !relyingPartyOfSettings(settings)) {
    return [warning(`second factors: ${count} cannot be used, because passkeys are not offered`)]
  }
  const foreign = passkeys.filter(({ userId, userHandle }) => userHandle !== userHandleOf(base, userId)).length
  if (foreign === 0) return [ok(`second factors: ${count}`)]
  const reason = `${foreign} of ${count} were added at another base address than ${base}`
  return [warning(`second factors: ${reason}; if its host was another one, their owners need their recovery codes`)]
}

async function checkSecrets({ settings, tokenKey, version }: Subject, database: Database): Promise<CheckResult[]> {
  const apps = await factorsOfKind(database, 'totp')
  if (apps.length === 0) return []
  try {
    const file = factorKeyFile(settings)
    if (file !== undefined && (await isMissing(file))) {
      const loss = `the secrets of ${apps.length} authenticator apps cannot be opened`
      return [problem(`second factors: the key file ${file} is missing, so ${loss}; restore it from a copy`)]
    }
    const machine = { system: realSystem, tokenKey, version }
    const keys = file === undefined ? await tokenSecrets(settings, machine) : await readKeyFile(file, realSystem)
    const secrets = new SealedSecrets(async () => keys, realSystem, 'second factor')
    const opened = await Promise.all(apps.map(({ secret, userId }) => secrets.open(secret, userId)))
    const lost = opened.filter(secret => secret === undefined).length
    if (lost === 0) return [ok(`second factors: ${apps.length} authenticator apps`)]
    return [
      problem(`second factors: ${lost} of ${apps.length} authenticator apps are sealed with a key that is missing`),
    ]
  } catch (error) {
    if (!(error instanceof StartupError)) throw error
    return [problem(`second factors: ${error.message}`)]
  }
}
