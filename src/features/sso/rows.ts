import { boolean, pattern, seconds, text } from '../../config/kinds.ts'

export const nameOfIdp = { expects: 'a name of A-Z, a-z, 0-9, _ and -', matches: /^[\w-]+$/ }

const MAX_LABEL = 80
const labelForm = {
  expects: `a text of at most ${MAX_LABEL} characters`,
  matches: new RegExp(`^.{1,${MAX_LABEL}}$`, 'u'),
}

export const label = (what: string, defaultLabel?: string) =>
  text({
    ...labelForm,
    defaultText: defaultLabel === undefined ? 'its name in the settings' : `\`${defaultLabel}\``,
    help: `Name of ${what} as users know it, for the sign-in page.`,
  })

export const createsUsers = boolean({ default: false, help: 'Create unknown users at their first sign-on.' })

export const sessionMaxAge = (session: string) =>
  seconds({
    min: 1,
    unlimited: 'a cookie that ends with the browser',
    defaultText: 'value of `service.auth.cookie.max-age`',
    help: `Lifetime of a ${session}.`,
  })

export const file = { expects: 'the path of a file' }
export const countsAsFactor =
  'that counts as a second factor, exactly as the provider writes it. Other sign-ons of users with a factor need it as well.'

const prefix = {
  expects: 'a text of 2 to 100 characters',
  matches: /^.{2,100}$/u,
  help: 'Beginning of the names of all groups that the provider decides about: the value `staff` and the prefix `sso-` mean the group `sso-staff`. No other group is changed.',
}
const groups = 'with the groups of the user: memberships are added and removed at each sign-on.'
const admin =
  'whose holders are members of the group `admins`. Without it the provider does not decide about that group.'
const provisions = 'Create groups that do not exist yet.'
const target =
  'becomes this value of the user; the target is `name` (full name), `email`, `language` or `property.<name>` (a custom property).'
const required = 'must match as a whole; other users are refused.'

/** Kinds of the settings of the attributes of users (D27): the same for each protocol. @param it attribute or claim */
export const mappingKinds = (it: 'Attribute' | 'Claim') => {
  const named = { expects: `the name of ${it === 'Claim' ? 'a claim' : 'an attribute'}` }
  return {
    groups: text({ ...named, help: `${it} ${groups}` }),
    prefix: text(prefix),
    provisions: boolean({ default: false, help: provisions }),
    admin: text({ help: `Value of the groups ${it.toLowerCase()} ${admin}` }),
    map: text({ ...named, help: `${it} that ${target}` }),
    required: pattern({ help: `Pattern that a value of this ${it.toLowerCase()} ${required}` }),
  } as const
}
