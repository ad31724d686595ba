/** Keys of the words that the pages of the service use. The words themselves are in `ui/messages`, with the prefix `page.`. */
export const wordKeys = [
  'account',
  'askOrganisation',
  'back',
  'email',
  'findOrganisation',
  'findOrganisationHint',
  'forgot',
  'goOn',
  'leaving',
  'linkGone',
  'linkGoneTitle',
  'lockedOut',
  'lockedOver',
  'mailSent',
  'mailSentTitle',
  'mailWanted',
  'needsScript',
  'newPassword',
  'newPasswordTitle',
  'noWayIn',
  'or',
  'password',
  'passwordSet',
  'passwordSetTitle',
  'problem.account-disabled',
  'problem.cross-site-request',
  'problem.invalid-reset-token',
  'problem.not-allowed',
  'problem.not-found',
  'problem.overloaded',
  'problem.password-login-off',
  'problem.sso-refused',
  'problem.unknown-idp',
  'problem.wrong-credentials',
  'refused',
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
  'signedOutHere',
  'toHome',
  'userName',
] as const
export type WordKey = (typeof wordKeys)[number]
export type Words = Readonly<Record<WordKey, string>>

/** Words by language tag; English is always among them. */
export type Catalogues = Readonly<Record<string, Words>>

/** A problem in the reader's words, where there are some for its code and all their places can be filled. */
export function wordsForProblem(
  words: Words,
  code: string,
  values: Readonly<Record<string, unknown>> = {},
): string | undefined {
  const message = (words as Readonly<Record<string, string>>)[`problem.${code}`]
  const isComplete = message?.match(/\{(\w+)\}/g)?.every(place => place.slice(1, -1) in values) ?? true
  return isComplete ? message?.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name])) : undefined
}
