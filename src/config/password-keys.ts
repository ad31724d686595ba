import { boolean, choice, duration, integer, pattern, secret, text } from './kinds.ts'

/** Who may sign in with a password, and how passwords are stored (I5.1, I5.5, I5.7, I5.8; D4, D5). */
export const passwordKeys = {
  'service.auth.http-basic': boolean({ default: false, help: 'Accept HTTP Basic credentials.' }),
  'service.auth.adminpw': secret({
    sameOnAllNodes: true,
    warn: { code: 'admin-password-overridden', text: 'overrides the stored password of admin' },
    help: 'Replaces the password of admin while it is set; never written to the store.',
  }),
  'service.auth.password': choice(['on', 'off', 'whitelist'], {
    live: true,
    sameOnAllNodes: true,
    default: 'on',
    help: 'Who may sign in with a password: all users, no user, or the users on the whitelist.',
  }),
  'service.auth.password.whitelist.<n>': text({
    live: true,
    sameOnAllNodes: true,
    expects: 'a user name',
    help: 'Users who may sign in with a password when `service.auth.password=whitelist`.',
  }),
  'service.auth.password.blacklist.<n>': text({
    live: true,
    sameOnAllNodes: true,
    expects: 'a user name',
    help: 'Users who may not sign in with a password.',
  }),
  'service.auth.password.require-current-password': boolean({
    sameOnAllNodes: true,
    default: true,
    help: 'Users must send their current password to change it.',
  }),
  'service.auth.password.argon2.memory': integer({
    min: 19_456,
    max: 1_048_576,
    default: 19_456,
    help: 'Memory of one password hash (argon2id), in KiB.',
  }),
} as const

/** The rules for a new password (I5.6, D5.2). */
export const passwordRuleKeys = {
  'service.auth.password.profile': choice(['spec', 'nist'], {
    sameOnAllNodes: true,
    default: 'spec',
    help: '`spec`: the rules below. `nist`: after NIST SP 800-63B, length instead of character classes.',
  }),
  'service.auth.password.rule.lowercase': boolean({
    sameOnAllNodes: true,
    default: true,
    help: 'Require a lower-case letter.',
  }),
  'service.auth.password.rule.uppercase': boolean({
    sameOnAllNodes: true,
    default: true,
    help: 'Require an upper-case letter.',
  }),
  'service.auth.password.rule.number': boolean({ sameOnAllNodes: true, default: true, help: 'Require a digit.' }),
  'service.auth.password.rule.symbol': boolean({
    sameOnAllNodes: true,
    default: false,
    help: 'Require a character that is neither a letter nor a digit.',
  }),
  'service.auth.password.rule.min-length': integer({
    sameOnAllNodes: true,
    min: 1,
    max: 2048,
    default: 10,
    help: 'Minimum number of characters (Unicode code points).',
  }),
  'service.auth.password.rule.custom.<n>': pattern({
    sameOnAllNodes: true,
    help: 'Each must match somewhere in the password. In the file, write a backslash twice.',
  }),
} as const

/** The reaction to wrong passwords (I5.9, D6). */
export const lockoutKeys = {
  'service.auth.temp.lockout.max.attempts': integer({
    sameOnAllNodes: true,
    min: 1,
    default: 5,
    unlimited: 'no lockout',
    help: 'How many wrong passwords in a row lock the user out.',
  }),
  'service.auth.temp.lockout.duration': duration({
    sameOnAllNodes: true,
    min: 0,
    default: 300_000,
    help: 'How long a lockout lasts.',
  }),
  'service.auth.temp.lockout.admin': boolean({
    sameOnAllNodes: true,
    default: true,
    warn: { code: 'admin-not-locked-out', text: 'is off: passwords of administrators can be guessed without limit' },
    help: 'Lock out admin and members of the admin group too.',
  }),
  'service.auth.temp.lockout.trusted-devices': boolean({
    sameOnAllNodes: true,
    default: false,
    help: 'Count wrong passwords from a device that has signed in before separately, so that strangers cannot lock its owner out.',
  }),
} as const

/** The mail server. */
export const mailKeys = {
  'service.smtp.host': text({
    expects: 'a host name',
    matches: /^[^\s/]+$/,
    help: 'Mail server. With it users can also tell others by mail what they share with them.',
  }),
  'service.smtp.port': integer({ min: 1, max: 65535, default: 587, help: 'Port of the mail server.' }),
  'service.smtp.username': text({ live: true, help: 'User name at the mail server.' }),
  'service.smtp.password': secret({ live: true, help: 'Password at the mail server.' }),
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
