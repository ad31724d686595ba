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
  return [describeUse(settings, relyingParty), ...(found ?? [])]
}

function describeUse(settings: PasskeySettings, relyingParty: RelyingParty | undefined): CheckResult {
  const use = settings['service.auth.passkeys']
  if (use === 'off') return ok('passkeys-off', 'passkeys: off')
  if (!relyingParty)
    return ok(
      'passkeys-not-offered',
      'passkeys: not offered, because browsers need a base address with a host name and https, or localhost',
    )
  const host = { host: relyingParty.id }
  return use === 'sign-in'
    ? ok('passkeys-for-sign-in', 'passkeys: bound to the host {host}, also instead of the password', host)
    : ok('passkeys-as-factor', 'passkeys: bound to the host {host}, as second factor', host)
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
  const count = passkeys.length
  if (base === undefined || !relyingParty) {
    return [
      warning(
        'passkeys-unusable',
        'second factors: {count, plural, one {# passkey} other {# passkeys}} cannot be used, because passkeys are not offered',
        { count },
      ),
    ]
  }
  const foreign = passkeys.filter(({ userId, userHandle }) => userHandle !== userHandleOf(base, userId)).length
  if (foreign === 0)
    return [ok('passkeys', 'second factors: {count, plural, one {# passkey} other {# passkeys}}', { count })]
  return [
    warning(
      'passkeys-of-other-address',
      'second factors: {foreign, plural, one {# passkey was} other {# passkeys were}} added at another base address than {base}, of {count} in all; if its host was another one, the owners need their recovery codes',
      { count, foreign, base },
    ),
  ]
}
