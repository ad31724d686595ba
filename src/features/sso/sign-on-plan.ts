import { ADMINS, propertyName, type User, type UserChange } from '../../accounts/users.ts'
import { findPrincipalsNamed, membershipsOf } from '../../accounts/groups.ts'
import { type PersonalData, personalDataOf } from '../../content/provisioning.ts'
import type { Queries } from '../../stores/database.ts'
import { type AttributeRules, type Attributes, type GroupRules, readGroups, readProfile } from './attributes.ts'

/** One value of a user that a sign-on changes: `name`, `email`, `language` or `property.<custom property>`. */
export interface ValueChange {
  readonly target: string
  readonly before: string | undefined
  readonly after: string
}

/** The changes of a sign-on to the user, beside the session. */
export interface ProfilePlan {
  readonly changes: readonly ValueChange[]
  readonly user: UserChange
  readonly personal: PersonalData
}

interface NamedGroup {
  readonly id: string
  readonly name: string
}

export interface GroupPlan {
  /** Names of the groups that the user is in before the sign-on. */
  readonly before: readonly string[]
  /** Names of the groups that the user is in after it. */
  readonly after: readonly string[]
  /** Memberships that the provider gives now; the user can have some of them from another provider. */
  readonly given: readonly NamedGroup[]
  readonly taken: readonly NamedGroup[]
  /** Memberships that a provider gave which is not configured any more. */
  readonly orphans: ReadonlyArray<{ readonly provider: string; readonly groupId: string }>
  /** Names of groups that are created. */
  readonly created: readonly string[]
  /** Groups that do not exist, and are not created now. */
  readonly missing: readonly string[]
  /** Values that name no group which the provider may decide about. */
  readonly unusable: readonly string[]
}

/** Maximum number of groups that one sign-on creates, so that it does not block the database for long; later sign-ons create the rest. */
const MAX_CREATED = 200

/** For a provider that decides about no memberships. */
const noGroups = { names: new Set<string>(), isAdmin: false, unusable: [] } as const

/** Custom properties are limited in total, as for a change by hand. */
const MAX_PROPERTIES_BYTES = 65_536

/** Compares the statements of the provider with the data of the user. @param user `undefined` for a user who does not exist yet */
export async function planProfile(
  queries: Queries,
  user: User | undefined,
  attributes: Attributes,
  rules: AttributeRules,
): Promise<ProfilePlan> {
  const stated = readProfile(attributes, rules)
  const isPersonal = stated.name !== undefined || stated.email !== undefined
  const personal = user && isPersonal ? await personalDataOf(queries, user.id) : {}
  const changes: ValueChange[] = []
  const isNew = (target: string, before: string | undefined, after: string | undefined): after is string => {
    const hasChanged = after !== undefined && after !== before
    if (hasChanged) changes.push({ target, before, after })
    return hasChanged
  }
  const changed = {
    ...(isNew('name', personal.name, stated.name) ? { name: stated.name } : {}),
    ...(isNew('email', personal.email, stated.email) ? { email: stated.email } : {}),
  }
  const language = isNew('language', user?.language, stated.language) ? { language: stated.language } : {}
  let properties = user?.customProperties ?? {}
  for (const [name, value] of Object.entries(stated.properties)) {
    const key = propertyName(name)
    const before = Object.hasOwn(properties, key) ? properties[key] : undefined
    const next = { ...properties, [key]: value }
    const fits = Buffer.byteLength(JSON.stringify(Object.entries(next))) <= MAX_PROPERTIES_BYTES
    if (fits && isNew(`property.${key}`, before, value)) properties = next
  }
  const hasProperties = changes.some(({ target }) => target.startsWith('property.'))
  return {
    changes,
    user: { ...language, ...(hasProperties ? { customProperties: properties } : {}) },
    personal: changed,
  }
}

/**
 * Compares the groups that a provider states with the memberships of the user. A membership that was given by hand stays. A membership that
 * the provider gave ends when the provider no longer states it, even if the settings have changed meanwhile. A membership from a provider
 * that is no longer configured ends too.
 * @throws {SsoRefused} `groups-overage`
 */
export async function planGroups(
  queries: Queries,
  user: User | undefined,
  attributes: Attributes,
  {
    provider,
    providers,
    rules,
  }: {
    readonly provider: string
    /** Names of all configured providers. */
    readonly providers: ReadonlySet<string>
    readonly rules: GroupRules | undefined
  },
): Promise<GroupPlan> {
  const wanted = rules ? readGroups(attributes, rules) : noGroups
  const existing = await findPrincipalsNamed(queries, [...wanted.names])
  const groups: NamedGroup[] = existing.filter(({ id, isGroup }) => isGroup && !id.startsWith('_'))
  if (wanted.isAdmin) groups.push({ id: ADMINS, name: 'admins' })
  const taken = new Set(existing.map(({ name }) => name))
  const absent = [...wanted.names].filter(name => !taken.has(name))
  // The name belongs to a user, or to a group of the service.
  const refused = existing.filter(({ id, isGroup }) => !isGroup || id.startsWith('_')).map(({ name }) => name)
  const memberships = user ? await membershipsOf(queries, user.id) : []
  const present = new Map(memberships.map(membership => [membership.groupId, membership]))
  const wantedIds = new Set(groups.map(({ id }) => id))
  const given = groups.filter(({ id }) => {
    const providers = present.get(id)?.providers
    return providers === undefined || (providers.size > 0 && !providers.has(provider))
  })
  const lost = memberships.filter(({ groupId, providers }) => providers.has(provider) && !wantedIds.has(groupId))
  const orphans = memberships.flatMap(({ groupId, providers: givers }) =>
    [...givers].filter(giver => !providers.has(giver)).map(giver => ({ provider: giver, groupId })),
  )
  const ending = new Set(
    memberships
      .filter(({ groupId, providers: givers }) => {
        const isKept = wantedIds.has(groupId) || givers.size === 0
        return !isKept && [...givers].every(giver => giver === provider || !providers.has(giver))
      })
      .map(({ groupId }) => groupId),
  )
  const created = rules?.provisions ? absent.slice(0, MAX_CREATED) : []
  const before = memberships.map(nameOf).sort()
  const after = [
    ...memberships.filter(({ groupId }) => !ending.has(groupId)).map(nameOf),
    ...given.filter(({ id }) => !present.has(id)).map(({ name }) => name),
    ...created,
  ].sort()
  return {
    before,
    after,
    given,
    taken: lost.map(membership => ({ id: membership.groupId, name: nameOf(membership) })),
    orphans,
    created,
    missing: absent.slice(created.length),
    unusable: [...wanted.unusable, ...refused],
  }
}

const nameOf = ({ groupId, name }: { readonly groupId: string; readonly name: string | undefined }): string =>
  name ?? groupId

/** Whether the sign-on changes nothing about the memberships. */
export const keepsGroups = ({ given, taken, orphans, created }: GroupPlan): boolean =>
  given.length + taken.length + orphans.length + created.length === 0
