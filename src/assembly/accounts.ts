import type { Audit } from '../accounts/audit.ts'
import { BasicCredentials } from '../accounts/basic-credentials.ts'
import { PasswordRules, withNistProfile } from '../accounts/password-rules.ts'
import { UserCache } from '../accounts/user-cache.ts'
import { CODE_LOCKOUT, GUESS_LOCKOUT, Lockout } from '../accounts/lockout.ts'
import { Login, type PasswordLoginOptions, PasswordLoginPolicy } from '../accounts/login.ts'
import { hashCost, hashLimits, Passwords } from '../accounts/passwords.ts'
import { PendingLogins } from '../accounts/pending-logins.ts'
import { SealedSecrets } from '../accounts/sealed-secrets.ts'
import { SecondFactor } from '../accounts/second-factor.ts'
import { LogoutKeys } from '../accounts/session-lists.ts'
import { Sessions } from '../accounts/sessions.ts'
import { SignIn, TemporaryPasswords } from '../accounts/sign-in.ts'
import { StepUp } from '../accounts/step-up.ts'
import { TrustedDevices } from '../accounts/trusted-devices.ts'
import { Semaphore } from '../base/semaphore.ts'
import type { Log } from '../base/log.ts'
import type { Seconds } from '../base/units.ts'
import { maxAgeKeys } from '../config/keys.ts'
import type { Settings } from '../config/settings.ts'
import { features } from '../features/features.ts'
import { PRINCIPALS } from '../model/addresses.ts'
import { factorKeys } from '../core/sealing-keys.ts'
import type { Reload } from '../core/reload.ts'
import type { RuntimeEnvironment } from '../core/machine.ts'
import type { EphemeralStores } from '../core/ephemeral-stores.ts'
import { noteChange } from '../stores/change-log.ts'
import type { Database } from '../stores/database.ts'
import type { DependencyCache } from '../stores/dependency-cache.ts'

export type Accounts = Awaited<ReturnType<typeof createAccounts>>

interface AccountsDependencies extends EphemeralStores {
  readonly database: Database
  readonly cache: DependencyCache
  readonly audit: Audit
}

/** Part of `assembly/server.ts`: accounts and sign-in. */
export async function createAccounts(
  settings: Settings,
  machine: RuntimeEnvironment,
  { database, cache, audit, ephemeral, ofProcess, tokens, tokenKeys }: AccountsDependencies,
) {
  const { system } = machine
  const passwords = await createPasswords(settings, machine)
  const passwordRules = await createPasswordRules(settings)
  const policy = new PasswordLoginPolicy(passwordLogins(settings))
  const lockout = new Lockout(ephemeral, system, {
    maxAttempts: settings['service.auth.temp.lockout.max.attempts'],
    duration: settings['service.auth.temp.lockout.duration'],
  })
  const distinguishesDevices = settings['service.auth.temp.lockout.trusted-devices']
  const devices = distinguishesDevices ? new TrustedDevices(database, system) : undefined
  const adminPassword = settings['service.auth.adminpw']
  const login = new Login(
    {
      database,
      passwords,
      policy,
      lockout,
      codeLockout: new Lockout(ephemeral, system, CODE_LOCKOUT),
      guessLockout: new Lockout(ephemeral, system, GUESS_LOCKOUT),
      devices,
      audit,
    },
    {
      adminOverride: adminPassword === undefined ? undefined : await passwords.hash(adminPassword),
      locksAdmins: settings['service.auth.temp.lockout.admin'],
    },
  )
  const users = new UserCache(database, cache)
  const sessions = new Sessions(tokens.store, tokens.sealer, system, {
    maxAge: settings['service.auth.cookie.max-age'],
    refreshOnAccess: settings['service.auth.cookie.refresh-expiration-on-access'],
    absoluteMaxAge: absoluteMaxAgeOf(settings),
    maxPerUser: settings['service.auth.token.max-per-user'],
    accessInterval: tokens.accessInterval,
    onEnd: userId => noteEndOfSession(database, machine.log, userId),
  })
  const basic = settings['service.auth.http-basic']
    ? new BasicCredentials(users, login, { store: ofProcess, key: system.randomBytes(32) })
    : undefined
  const reload: Reload = async ({ next }) => ({ apply: () => policy.replace(passwordLogins(next)) })
  const secondFactor = new SecondFactor()
  const temporaryPasswords = new TemporaryPasswords({ database, login, passwords, passwordRules, sessions, audit })
  const logoutKeys = new LogoutKeys(tokens.store, system)
  const pending = new PendingLogins({ database, ephemeral, logoutKeys, system })
  return {
    audit,
    passwordLogins: policy,
    passwords,
    passwordRules,
    lockout,
    devices,
    login,
    users,
    sessions,
    secondFactor,
    /** The end of every sign-in. */
    signIn: new SignIn({ sessions, factors: secondFactor, pending, temporaryPasswords, audit }),
    stepUp: new StepUp({ factors: secondFactor, login, sessions, audit, system }, settings['service.auth.step-up']),
    sealedSecrets: (purpose: string) =>
      new SealedSecrets(() => factorKeys(settings, machine, tokenKeys), system, purpose),
    basic,
    /** Puts other lists of who may use a password in force. */
    reload,
  }
}

/** The session has ended even if the nodes cannot be told: each request reads it again. */
async function noteEndOfSession(database: Database, log: Log, userId: string): Promise<void> {
  try {
    await database.transaction(tx => noteChange(tx, `${PRINCIPALS}/${userId}`), { durability: 'relaxed' })
  } catch (error) {
    log.error({ err: error }, 'telling the end of a session failed: what it is sending and receiving goes on')
  }
}

const passwordLogins = (settings: Settings): PasswordLoginOptions => ({
  mode: settings['service.auth.password'],
  whitelist: settings['service.auth.password.whitelist.<n>'],
  blacklist: settings['service.auth.password.blacklist.<n>'],
})

export async function createPasswords(settings: Settings, { system, hashing }: RuntimeEnvironment): Promise<Passwords> {
  const cost = hashing?.cost ?? hashCost(settings['service.auth.password.argon2.memory'])
  const limits = hashing?.limits ?? hashLimits()
  const semaphore = new Semaphore({ ...limits, what: 'password checks' })
  return await Passwords.create(cost, semaphore, system, hashing?.hasher)
}

async function createPasswordRules(settings: Settings): Promise<PasswordRules> {
  const rules = {
    lowercase: settings['service.auth.password.rule.lowercase'],
    uppercase: settings['service.auth.password.rule.uppercase'],
    number: settings['service.auth.password.rule.number'],
    symbol: settings['service.auth.password.rule.symbol'],
    minLength: settings['service.auth.password.rule.min-length'],
    custom: settings['service.auth.password.rule.custom.<n>'],
    added: features.flatMap(feature => feature.passwordRules(settings)),
  }
  return new PasswordRules(settings['service.auth.password.profile'] === 'nist' ? await withNistProfile(rules) : rules)
}

const DEFAULT_ABSOLUTE_MAX_AGE: Seconds = 2_592_000

/** The cap of all sessions. A default does not shorten what an operator has set. */
const absoluteMaxAgeOf = (settings: Settings): Seconds =>
  settings['service.auth.token.absolute-max-age'] ??
  Math.max(DEFAULT_ABSOLUTE_MAX_AGE, ...maxAgeKeys.map(key => settings[key] ?? 0))
