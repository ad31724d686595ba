import { join, resolve } from 'node:path'
import { FactorPolicy } from '../accounts/caller.ts'
import { SealedSecrets } from '../accounts/sealed-secrets.ts'
import { PasskeySignIn } from '../accounts/factors/passkey-sign-in.ts'
import { Passkeys, relyingPartyOf } from '../accounts/factors/passkeys.ts'
import { PendingLogins } from '../accounts/factors/pending-logins.ts'
import { SecondFactors } from '../accounts/factors/second-factors.ts'
import { SignIn, TemporaryPasswords } from '../accounts/factors/sign-in.ts'
import { StepUp } from '../accounts/factors/step-up.ts'
import type { Audit } from '../accounts/audit.ts'
import type { Login } from '../accounts/login.ts'
import type { PasswordRules } from '../accounts/password-rules.ts'
import type { Passwords } from '../accounts/passwords.ts'
import type { Sessions } from '../accounts/sessions.ts'
import type { Settings } from '../config/settings.ts'
import type { RuntimeEnvironment } from './machine.ts'
import type { EphemeralStores } from './ephemeral-stores.ts'
import type { Database } from '../stores/database.ts'
import { readKeyFile } from '../stores/key-file.ts'

interface Dependencies extends Pick<EphemeralStores, 'ephemeral' | 'tokenKeys'> {
  readonly database: Database
  readonly login: Login
  readonly passwords: Passwords
  readonly passwordRules: PasswordRules
  readonly sessions: Sessions
  readonly audit: Audit
}

/** Part of `assembly/accounts.ts`: second factors, and the end of every sign-in. */
export function createFactors(settings: Settings, machine: RuntimeEnvironment, deps: Dependencies) {
  const { system, log } = machine
  const { database, ephemeral, sessions, audit, tokenKeys } = deps
  const keys = () => factorKeys(settings, machine, tokenKeys)
  const secrets = new SealedSecrets(keys, system, 'second factor')
  const passkeys = createPasskeys(settings, machine, deps)
  const factors = new SecondFactors({ ...deps, secrets, passkeys, system, log })
  const pending = new PendingLogins({ database, ephemeral, system })
  return {
    factors,
    linkSecrets: new SealedSecrets(keys, system, 'public link'),
    factorPolicy: new FactorPolicy(database, {
      requirement: settings['service.auth.second-factor'],
      groups: settings['service.auth.second-factor.groups.<n>'],
    }),
    passkeys,
    passkeySignIn:
      passkeys && settings['service.auth.passkeys'] === 'sign-in'
        ? new PasskeySignIn({ ...deps, passkeys, factors })
        : undefined,
    signIn: new SignIn({ sessions, factors, pending, temporaryPasswords: new TemporaryPasswords(deps), audit }),
    stepUp: new StepUp({ ...deps, factors, system }, settings['service.auth.step-up']),
  }
}

/** `undefined` where browsers offer no passkeys, as at the default base address, which has no host name. */
function createPasskeys(
  settings: Settings,
  { system }: Pick<RuntimeEnvironment, 'system'>,
  deps: Dependencies,
): Passkeys | undefined {
  const base = settings['service.baseurl.folder']
  const relyingParty = relyingPartyOfSettings(settings)
  if (settings['service.auth.passkeys'] === 'off' || base === undefined || !relyingParty) return undefined
  return new Passkeys({ ...deps, system }, { relyingParty, base })
}

/** The host that passkeys are bound to; `undefined` where browsers offer none. */
export const relyingPartyOfSettings = (settings: Settings) =>
  relyingPartyOf(settings['service.baseurl.folder'], 'Stowage')

/** Created in the data folder when the first secret is sealed, or at the start of a node. */
const KEY_FILE = 'second-factors.key'

/**
 * The keys that seal secrets of TOTP and of public links: those of the file in the settings, else those that seal sessions, which all nodes share,
 * else those of a file in the data folder.
 */
export async function factorKeys(
  settings: Settings,
  { system }: Pick<RuntimeEnvironment, 'system'>,
  tokenKeys: readonly Uint8Array[],
): Promise<readonly Uint8Array[]> {
  const file = factorKeyFile(settings)
  return file === undefined ? tokenKeys : await readKeyFile(file, system)
}

/** The keys for a backup: not those of sessions, nor those in a file that the operator keeps. */
export const ownFactorKeyFile = (settings: Settings): string | undefined =>
  settings['service.auth.second-factor.key-file'] === undefined ? factorKeyFile(settings) : undefined

/** `undefined` where the keys of sessions seal the secrets. */
export function factorKeyFile(settings: Settings): string | undefined {
  const file = settings['service.auth.second-factor.key-file']
  if (file !== undefined || settings['service.auth.token.store'] !== 'memory') return file
  return join(resolve(settings['service.data.folder']), KEY_FILE)
}
