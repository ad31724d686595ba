/** Keys of the words that the pages of the service use. The words themselves are in `ui/messages`, with the prefix `page.`. */
export const wordKeys = [
  'account',
  'askOrganisation',
  'back',
  'chooseOrganisation',
  'email',
  'factorCode',
  'factorHint',
  'findOrganisation',
  'findOrganisationHint',
  'forgot',
  'foundOrganisations',
  'goOn',
  'lastOrganisation',
  'leaving',
  'leavingToSignOut',
  'linkGone',
  'linkGoneTitle',
  'lockedOut',
  'lockedOver',
  'mailSent',
  'mailSentTitle',
  'mailWanted',
  'moreOrganisations',
  'needsScript',
  'newPassword',
  'newPasswordTitle',
  'noOrganisation',
  'noWayIn',
  'or',
  'passkeyLocked',
  'passkeySignIn',
  'passkeyUnused',
  'passkeyUse',
  'password',
  'passwordSet',
  'passwordSetTitle',
  'problem.account-disabled',
  'problem.codes-locked-out',
  'problem.cross-site-request',
  'problem.invalid-reset-token',
  'problem.not-allowed',
  'problem.not-found',
  'problem.overloaded',
  'problem.passkey-login-off',
  'problem.passkey-refused',
  'problem.password-login-off',
  'problem.password-unchanged',
  'problem.second-factor-wrong',
  'problem.sso-refused',
  'problem.sso-refused.required-claim',
  'problem.sso-refused.required-claim.contact',
  'problem.unknown-idp',
  'problem.wrong-credentials',
  'refused',
  'rule.breached',
  'rule.common',
  'rule.context',
  'rule.custom',
  'rule.lowercase',
  'rule.min-length',
  'rule.number',
  'rule.symbol',
  'rule.uppercase',
  'rulesBroken',
  'rulesTitle',
  'search',
  'searchOrganisation',
  'searchOrganisationHint',
  'secondStep',
  'seconds',
  'sendLink',
  'sessionEnded',
  'setPassword',
  'signIn',
  'signInWith',
  'signOut',
  'signOutAt',
  'signedIn',
  'signedInAs',
  'signedInShort',
  'signedOutBoth',
  'signedOutHere',
  'temporaryPasswordText',
  'temporaryPasswordTitle',
  'toHome',
  'userName',
] as const
type WordKey = (typeof wordKeys)[number]
export type Words = Readonly<Record<WordKey, string>>

/** Words by language tag; English is always among them. */
export type Catalogues = Readonly<Record<string, Words>>

/**
 * A problem in the reader's words, where there are some for its code and all their places can be filled. The words for a refused
 * sign-on can be more precise: for its check, and for whom to ask.
 */
export function wordsForProblem(
  words: Words,
  code: string,
  values: Readonly<Record<string, unknown>> = {},
): string | undefined {
  const known = words as Readonly<Record<string, string>>
  const precise = [`problem.${code}.${String(values['check'])}.contact`, `problem.${code}.${String(values['check'])}`]
  const isComplete = (message: string): boolean =>
    message.match(/\{(\w+)\}/g)?.every(place => place.slice(1, -1) in values) ?? true
  const message = [...precise, `problem.${code}`]
    .map(key => known[key])
    .find(one => one !== undefined && isComplete(one))
  return message?.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name]))
}
