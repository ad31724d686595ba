import { AccessTokens } from '../accounts/access-tokens.ts'
import type { Audit } from '../accounts/audit.ts'
import { BasicCredentials } from '../accounts/basic-credentials.ts'
import { BreachedPasswords } from '../accounts/breached-passwords.ts'
import { loadCommonPasswords, NIST_MIN_LENGTH, PasswordRules } from '../accounts/password-rules.ts'
import { UserCache } from '../accounts/caller.ts'
import { Lockout } from '../accounts/lockout.ts'
import { Login, type PasswordLoginOptions, PasswordLoginPolicy } from '../accounts/login.ts'
import { MailQueue } from '../accounts/mail-queue.ts'
import { PasswordReset } from '../accounts/password-reset.ts'
import { Passwords } from '../accounts/passwords.ts'
import { Sessions } from '../accounts/sessions.ts'
import { TrustedDevices } from '../accounts/trusted-devices.ts'
import { Semaphore } from '../base/semaphore.ts'
import type { Seconds } from '../base/units.ts'
import { maxAgeKeys } from '../config/checks.ts'
import type { Settings } from '../config/settings.ts'
import { createFactors } from './factors.ts'
import { openBreachedPasswords } from './breached-passwords.ts'
import type { LivePart } from './live-settings.ts'
import type { RuntimeEnvironment } from './machine.ts'
import type { ScheduledJob } from '../base/scheduled-jobs.ts'
import type { EphemeralStores } from './ephemeral-stores.ts'
import type { Database } from '../stores/database.ts'
import type { DependencyCache } from '../stores/dependency-cache.ts'
import type { SortedHashes } from '../stores/sorted-hashes.ts'
import { type Mail, type Mailer, openSmtpMailer } from '../stores/smtp-mailer.ts'

/** Where no password locks a user out, wrong codes still do: only the owner of the password can cause that. */
const CODE_LOCKOUT = { maxAttempts: 10, duration: 300_000 } as const
/** Wrong codes of apps in a row, on top of all other counts (NIST SP 800-63B permits 100). */
const GUESS_LOCKOUT = { maxAttempts: 50, duration: 86_400_000 } as const

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
  const { system, log } = machine
  const passwords = await createPasswords(settings, machine)
  const breachedPasswords = openBreachedPasswords(settings)
  const passwordRules = await createPasswordRules(settings, breachedPasswords)
  const policy = new PasswordLoginPolicy(passwordLogins(settings))
  const lockout = new Lockout(ephemeral, system, {
    maxAttempts: settings['service.auth.temp.lockout.max.attempts'],
    duration: settings['service.auth.temp.lockout.duration'],
  })
  const linkLockouts = {
    ofNetwork: lockout,
    // Strangers from many networks guess slowly too; a single network must not lock all others out.
    ofLink: lockout.withMoreAttempts(10),
  }
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
  })
  const accessTokens = settings['service.auth.access-tokens']
    ? new AccessTokens(
        { database, cache, users, audit, system, log },
        { maxAge: settings['service.auth.access-tokens.max-age'] },
      )
    : undefined
  const basic = settings['service.auth.http-basic']
    ? new BasicCredentials(users, login, { store: ofProcess, key: system.randomBytes(32) })
    : undefined
  let mailer = await createMailer(settings)
  const replaceable = mailer && {
    send: async (mail: Mail) => await mailer?.send(mail),
    close: async () => await mailer?.close(),
  }
  const mails = replaceable && new MailQueue(replaceable, log)
  const reload: LivePart = async ({ next }) => {
    const nextMailer = mailer && (await createMailer(next))
    return {
      apply: () => {
        policy.replace(passwordLogins(next))
        mailer = nextMailer
      },
    }
  }
  const reset = { database, ephemeral, policy, passwords, passwordRules, sessions, audit, system }
  const passwordReset =
    mails && settings['service.auth.password-reset'] ? new PasswordReset({ ...reset, mails }) : undefined
  return {
    audit,
    passwords,
    passwordRules,
    lockout,
    linkLockouts,
    devices,
    login,
    users,
    sessions,
    ...createFactors(settings, machine, { ...reset, tokenKeys, login }),
    accessTokens,
    basic,
    mails,
    passwordReset,
    /** Open as long as passwords are set. */
    breachedPasswords,
    /** Delete what is kept for a limited time. */
    expiries: [
      ['audit log', () => audit.expire()],
      ['password resets', () => passwordReset?.expire()],
      ['access tokens', () => accessTokens?.expire()],
    ] satisfies readonly ScheduledJob[],
    /** Puts another password of the mail server in force, and other lists of who may use a password. */
    reload,
  }
}

const passwordLogins = (settings: Settings): PasswordLoginOptions => ({
  mode: settings['service.auth.password'],
  whitelist: settings['service.auth.password.whitelist.<n>'],
  blacklist: settings['service.auth.password.blacklist.<n>'],
})

async function createPasswords(settings: Settings, { system, hashing }: RuntimeEnvironment): Promise<Passwords> {
  const cost = hashing?.cost ?? {
    memory: settings['service.auth.password.argon2.memory'],
    iterations: settings['service.auth.password.argon2.iterations'],
    parallelism: settings['service.auth.password.argon2.parallelism'],
  }
  const semaphore = new Semaphore({
    concurrency: settings['service.auth.password.hash.concurrency'],
    queue: settings['service.auth.password.hash.queue'],
    what: 'password checks',
  })
  return await Passwords.create(cost, semaphore, system, hashing?.hasher)
}

async function createPasswordRules(settings: Settings, breached: SortedHashes | undefined): Promise<PasswordRules> {
  const isNist = settings['service.auth.password.profile'] === 'nist'
  const minLength = settings['service.auth.password.rule.min-length']
  return new PasswordRules({
    // The profile requires length and rejects easily guessed passwords; character classes add little to either.
    lowercase: !isNist && settings['service.auth.password.rule.lowercase'],
    uppercase: !isNist && settings['service.auth.password.rule.uppercase'],
    number: !isNist && settings['service.auth.password.rule.number'],
    symbol: !isNist && settings['service.auth.password.rule.symbol'],
    minLength: isNist ? Math.max(NIST_MIN_LENGTH, minLength) : minLength,
    custom: settings['service.auth.password.rule.custom.<n>'],
    ...(isNist ? { common: await loadCommonPasswords() } : {}),
    breached: breached && new BreachedPasswords(breached),
  })
}

const DEFAULT_ABSOLUTE_MAX_AGE: Seconds = 2_592_000

/** The cap of all sessions. A default does not shorten what an operator has set. */
const absoluteMaxAgeOf = (settings: Settings): Seconds =>
  settings['service.auth.token.absolute-max-age'] ??
  Math.max(DEFAULT_ABSOLUTE_MAX_AGE, ...maxAgeKeys.map(key => settings[key] ?? 0))

/** `undefined` without a mail server. */
async function createMailer(settings: Settings): Promise<Mailer | undefined> {
  const host = settings['service.smtp.host']
  const from = settings['service.smtp.from']
  if (host === undefined || from === undefined) return undefined
  return await openSmtpMailer({
    host,
    from,
    port: settings['service.smtp.port'],
    security: settings['service.smtp.security'],
    username: settings['service.smtp.username'],
    password: settings['service.smtp.password'],
  })
}
