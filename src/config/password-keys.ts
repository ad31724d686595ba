import { boolean, choice, duration, integer, pattern, secret, text } from './kinds.ts'

/** Who may sign in with a password, and how it is kept (interface 5.1, 5.5, 5.7, 5.8; D4, D5). */
export const passwordKeys = {
  'service.auth.http-basic': boolean({ default: false, help: 'Accept HTTP Basic credentials.' }),
  'service.auth.adminpw': secret({
    warn: 'overrides the stored password of admin',
    help: 'Password of admin as long as it is set; never written to the store.',
  }),
  'service.auth.password': choice(['on', 'off', 'whitelist'], {
    default: 'on',
    help: 'Who may sign in with a password: everybody, nobody, or the users of the whitelist.',
  }),
  'service.auth.password.whitelist.<n>': text({
    expects: 'a user name',
    help: 'Users who may sign in with a password when `service.auth.password=whitelist`.',
  }),
  'service.auth.password.blacklist.<n>': text({
    expects: 'a user name',
    help: 'Users who may not sign in with a password.',
  }),
  'service.auth.password.require-current-password': boolean({
    default: true,
    help: 'To change a password, a user sends the present one along.',
  }),
  'service.auth.password.argon2.memory': integer({
    min: 19_456,
    max: 1_048_576,
    default: 19_456,
    help: 'Memory of one password hash (argon2id), in KiB.',
  }),
  'service.auth.password.argon2.iterations': integer({
    min: 2,
    max: 64,
    default: 2,
    help: 'Passes of one password hash.',
  }),
  'service.auth.password.argon2.parallelism': integer({
    min: 1,
    max: 64,
    default: 1,
    help: 'Lanes of one password hash.',
  }),
  'service.auth.password.hash.concurrency': integer({
    min: 1,
    max: 64,
    default: 2,
    help: 'Password hashes computed at once.',
  }),
  'service.auth.password.hash.queue': integer({
    min: 0,
    max: 100_000,
    default: 200,
    help: 'Logins that may wait for a hash; more are answered 503.',
  }),
} as const

/** What a new password must look like (interface 5.6, D5.2). */
export const passwordRuleKeys = {
  'service.auth.password.profile': choice(['spec', 'nist'], {
    default: 'spec',
    help: '`spec`: the rules below. `nist`: after NIST SP 800-63B, length instead of character classes.',
  }),
  'service.auth.password.rule.lowercase': boolean({
    default: true,
    help: 'A lower-case letter is needed.',
  }),
  'service.auth.password.rule.uppercase': boolean({
    default: true,
    help: 'An upper-case letter is needed.',
  }),
  'service.auth.password.rule.number': boolean({ default: true, help: 'A digit is needed.' }),
  'service.auth.password.rule.symbol': boolean({
    default: false,
    help: 'A character that is neither letter nor digit is needed.',
  }),
  'service.auth.password.rule.min-length': integer({
    min: 1,
    max: 2048,
    default: 10,
    help: 'Fewest characters (Unicode code points).',
  }),
  'service.auth.password.rule.custom.<n>': pattern({
    help: 'Each must match somewhere in the password. In the file a backslash is written twice.',
  }),
} as const

/** What happens after wrong passwords (interface 5.9, D6). */
export const lockoutKeys = {
  'service.auth.temp.lockout.max.attempts': integer({
    min: 1,
    default: 5,
    unlimited: 'no lockout',
    help: 'The wrong password in a row that locks the user out.',
  }),
  'service.auth.temp.lockout.duration': duration({
    min: 0,
    default: 300_000,
    help: 'How long a lockout lasts.',
  }),
  'service.auth.temp.lockout.admin': boolean({
    default: true,
    warn: 'is off: passwords of administrators can be guessed without limit',
    help: 'Lock out admin and members of the admin group too.',
  }),
  'service.auth.temp.lockout.trusted-devices': boolean({
    default: false,
    help: 'A device that signed in before has its own count, so that strangers cannot lock its owner out.',
  }),
} as const

/** Reset by e-mail and the mail server for it (D5.7). */
export const mailKeys = {
  'service.auth.password-reset': boolean({ default: false, help: 'Offer password reset by e-mail.' }),
  'service.smtp.host': text({ expects: 'a host name', matches: /^[^\s/]+$/, help: 'Mail server.' }),
  'service.smtp.port': integer({ min: 1, max: 65535, default: 587, help: 'Port of the mail server.' }),
  'service.smtp.username': text({ help: 'User name at the mail server.' }),
  'service.smtp.password': secret({ help: 'Password at the mail server.' }),
  'service.smtp.security': choice(['off', 'starttls', 'tls'], {
    default: 'starttls',
    help: 'Encryption of the connection to the mail server.',
  }),
  'service.smtp.from': text({
    expects: 'an e-mail address',
    matches: /^[^\s@<>]+@[^\s@<>]+$/,
    help: 'Sender of the mails.',
  }),
} as const
