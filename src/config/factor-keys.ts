import { choice, text } from './kinds.ts'

const countsAsFactor =
  'that counts as a second factor, exactly as the provider writes it. Other sign-ons of users with a factor need it as well.'

/** What a provider states about how it has authenticated a user (D28.10). */
export const samlFactorKeys = {
  'service.auth.saml.idp.<idp>.second-factor-acr.<n>': text({
    expects: 'an `AuthnContextClassRef`, such as `https://refeds.org/profile/mfa`',
    help: `Authentication context ${countsAsFactor}`,
  }),
} as const

export const oidcFactorKeys = {
  'service.auth.oidc.idp.<idp>.second-factor-acr.<n>': text({
    expects: 'a value of `acr`, such as `https://refeds.org/profile/mfa`',
    help: `Authentication class ${countsAsFactor}`,
  }),
} as const

/** Second factors (D28). */
export const factorKeys = {
  'service.auth.second-factor': choice(['off', 'optional', 'admins', 'all'], {
    sameOnAllNodes: true,
    default: 'optional',
    help: 'Who must have a second factor: `optional` no user, `admins` admin and members of the admin group, `all` all users. `off`: no user can add one; existing ones are still required.',
  }),
  'service.auth.second-factor.groups.<n>': text({
    sameOnAllNodes: true,
    expects: 'the name of a group',
    help: 'Groups whose members must have a second factor as well.',
  }),
  'service.auth.second-factor.key-file': text({
    expects: 'the path of a file',
    help: 'File with the keys that seal the secrets of authenticator apps, created with a new key when missing. Without it: the keys of sessions outside memory, else `second-factors.key` in the data folder.',
  }),
  'service.auth.passkeys': choice(['sign-in', 'factor', 'off'], {
    sameOnAllNodes: true,
    default: 'sign-in',
    help: 'Passkeys: also instead of the password, only as second factor, or not at all. Browsers offer them only if `service.baseurl.folder` has a host name and is https, or `http://localhost`.',
  }),
  'service.auth.step-up': choice(['off', 'factors', 'all'], {
    sameOnAllNodes: true,
    default: 'factors',
    help: 'Who proves again who they are before changing passwords, names, second factors, access tokens, accounts of others or who may do so, if the sign-in is older than five minutes: no user, users with a second factor, or all users.',
  }),
} as const
