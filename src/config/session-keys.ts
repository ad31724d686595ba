import { boolean, choice, integer, seconds, text } from './kinds.ts'

/** The cookie and the token in it (I5.2, D2). */
export const sessionKeys = {
  'service.auth.cookie.path': text({
    default: 'auto',
    expects: '`auto` or a path such as `/`',
    matches: /^(auto|\/[!-:<-~]*)$/,
    help: '`Path` of the cookie; `auto` is the path of the base address.',
  }),
  'service.auth.cookie.httponly': boolean({
    default: true,
    warn: { code: 'cookie-for-scripts', text: 'is off: scripts in pages can read the token' },
    help: 'Hide the token from scripts.',
  }),
  'service.auth.cookie.secure': boolean({ default: true, help: 'Send the cookie over https (and to localhost) only.' }),
  'service.auth.cookie.samesite': choice(['none', 'lax', 'strict'], {
    default: 'strict',
    help: 'Which requests from other sites carry the cookie; `none` forces `secure` to on.',
  }),
  'service.auth.cookie.host-prefix': boolean({
    sameOnAllNodes: true,
    default: false,
    help: 'Name the cookie `__Host-auth_token`, which no other host of the domain can set. Needs an https base address, `secure` and the path `/`; clients that expect `auth_token` no longer work.',
  }),
  'service.auth.cookie.max-age': seconds({
    min: 1,
    default: 86_400,
    unlimited: 'a cookie that ends with the browser (and after 86400 s here)',
    help: 'Lifetime of a session.',
  }),
  'service.auth.cookie.refresh-expiration-on-access': boolean({
    default: true,
    help: 'Every successful request extends the session.',
  }),
  'service.auth.cookie.invalid-token-error': boolean({
    default: false,
    help: 'Return 401 for an unknown or expired token; off treats the request as a guest’s.',
  }),
  'service.auth.token.absolute-max-age': seconds({
    min: 1,
    defaultText: '`2592000` (30 days), or the longest `max-age` of a login that is set',
    unlimited: 'no cap',
    help: 'Maximum lifetime of a session, however often it is extended.',
  }),
  'service.auth.token.max-per-user': integer({
    sameOnAllNodes: true,
    min: 1,
    max: 100_000,
    default: 100,
    help: 'Maximum number of sessions of one user; a further one ends the oldest.',
  }),
  'service.auth.token.store': choice(['memory', 'database', 'redis'], {
    sameOnAllNodes: true,
    default: 'memory',
    help: 'Where sessions are kept; those in memory end with the process. `redis` needs `service.cluster.redis.url`.',
  }),
  'service.auth.token.key-file': text({
    expects: 'the path of a file',
    help: 'File with the keys that seal tokens kept outside memory, created with a new key when missing. `SERVICE_AUTH_TOKEN_KEY` can replace the file.',
  }),
  'service.auth.second-factor.key-file': text({
    expects: 'the path of a file',
    help: 'File with the keys that seal the secrets of authenticator apps, created with a new key when missing. Without it: the keys of sessions outside memory, else `second-factors.key` in the data folder.',
  }),
  'service.auth.step-up': choice(['off', 'factors', 'all'], {
    sameOnAllNodes: true,
    default: 'factors',
    help: 'Users who must prove their identity again before they change passwords, names, second factors, access tokens, accounts of others, or groups and access lists that give the right to such changes. The proof is required if the sign-in is older than five minutes. The values mean no user, users with a second factor, and all users.',
  }),
} as const
