import type { Settings, SettingsOf } from '../../config/settings.ts'
import { type CheckResult, ok, warning } from '../../core/check-result.ts'
import type { Database } from '../../stores/database.ts'
import { readStoreWithFactors } from '../factors/checks.ts'
import { factorsOfKind } from '../factors/factor-rows.ts'
import type { RelyingParty } from './passkey-verification.ts'
import { userHandleOf } from './passkeys.ts'
import type { passkeySettings } from './settings.ts'

type PasskeySettings = Settings & SettingsOf<typeof passkeySettings.rows>

/** Whether users are offered passkeys, and whether those that they have can be used. @param relyingParty absent where none are offered */
export async function checkPasskeys(
  settings: PasskeySettings,
  relyingParty: RelyingParty | undefined,
): Promise<CheckResult[]> {
  const found = await readStoreWithFactors(settings, database => checkHost(settings, relyingParty, database))
  return [ok(`passkeys: ${describe(settings, relyingParty)}`), ...(found ?? [])]
}

function describe(settings: PasskeySettings, relyingParty: RelyingParty | undefined): string {
  const use = settings['service.auth.passkeys']
  if (use === 'off') return 'off'
  if (!relyingParty) return 'not offered, because browsers need a base address with a host name and https, or localhost'
  return `bound to the host ${relyingParty.id}, ${use === 'sign-in' ? 'also instead of the password' : 'as second factor'}`
}

/** Passkeys belong to the host of the base address that they were added at. */
async function checkHost(
  settings: PasskeySettings,
  relyingParty: RelyingParty | undefined,
  database: Database,
): Promise<CheckResult[]> {
  const passkeys = await factorsOfKind(database, 'passkey')
  if (passkeys.length === 0) return []
  const base = settings['service.baseurl.folder']
  const count = `${passkeys.length} passkeys`
  if (base === undefined || !relyingParty) {
    return [warning(`second factors: ${count} cannot be used, because passkeys are not offered`)]
  }
  const foreign = passkeys.filter(({ userId, userHandle }) => userHandle !== userHandleOf(base, userId)).length
  if (foreign === 0) return [ok(`second factors: ${count}`)]
  const reason = `${foreign} of ${count} were added at another base address than ${base}`
  return [warning(`second factors: ${reason}; if its host was another one, their owners need their recovery codes`)]
}
