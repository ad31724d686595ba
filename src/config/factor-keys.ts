import { choice, text } from './kinds.ts'

/** Second factors (D28). */
export const factorKeys = {
  'service.auth.second-factor.key-file': text({
    expects: 'the path of a file',
    help: 'File with the keys that seal the secrets of authenticator apps, created with a new key when missing. Without it: the keys of sessions outside memory, else `second-factors.key` in the data folder.',
  }),
  'service.auth.step-up': choice(['off', 'factors', 'all'], {
    default: 'factors',
    help: 'Who proves again who they are before changing passwords, names, second factors, access tokens or accounts of others, if the sign-in is older than five minutes: no user, users with a second factor, or all users.',
  }),
} as const
