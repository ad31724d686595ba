import { findGroupByName, giveMemberships, takeMemberships } from '../../accounts/groups.ts'
import {
  ADMIN,
  systemNames,
  changeUser,
  findUserByName,
  normaliseName,
  requireName,
  type User,
} from '../../accounts/users.ts'
import { findLinkedUser, isLinkedTo, linkUser, type SsoSubject } from '../../accounts/provider-links.ts'
import type { Client } from '../../accounts/sessions.ts'
import { Conflict, InvalidInput } from '../../base/errors.ts'
import type { Provisioner, Provisioning } from '../../content/provisioning.ts'
import type { Database, Queries } from '../../stores/database.ts'
import { type GroupRules, requireValues, plainNameOf, showName } from './attributes.ts'
import type { ProviderPolicy, VerifiedIdentity } from './identity-provider.ts'
import { refused } from './refusal.ts'
import { type GroupPlan, keepsGroups, planGroups, planProfile, type ProfilePlan } from './sign-on-plan.ts'

interface Dependencies {
  readonly database: Database
  readonly provisioning: Provisioning
}

/** Everything that a sign-on changes, found out before anything is changed. */
interface SignOnPlan {
  /** Normalised, as the provider states it. */
  readonly name: string
  readonly link: SsoSubject
  readonly isLinked: boolean
  /** `undefined`: the user is created. */
  readonly user: User | undefined
  readonly profile: ProfilePlan
  readonly groups: GroupPlan
}

/**
 * Finds or creates the user that a verified identity belongs to (D8.4, D9.2), with the same rules for every protocol, and brings their
 * profile and groups up to date (D27). The first sign-on links the identity to the user's id. From then on the link decides, not the
 * name: a renamed user keeps the account, and a new user with an old name inherits nothing (D1.7).
 */
export class AccountMatcher {
  readonly #deps: Dependencies
  readonly #providers: readonly ProviderPolicy[]
  readonly #names: ReadonlySet<string>

  constructor(deps: Dependencies, providers: readonly ProviderPolicy[]) {
    this.#deps = deps
    this.#providers = providers
    this.#names = new Set(providers.map(({ name }) => name))
  }

  /** The user linked to the subject, without any check. */
  async find(subject: SsoSubject): Promise<User | undefined> {
    return isSubject(subject.subject) ? await findLinkedUser(this.#deps.database, subject) : undefined
  }

  /** Signs the user in: all changes are made in one transaction, or none. @throws {SsoRefused} */
  async match(identity: VerifiedIdentity, provider: ProviderPolicy, client: Client): Promise<User> {
    const plan = await this.plan(identity, provider)
    const isSame = plan.isLinked && plan.profile.changes.length === 0 && keepsGroups(plan.groups)
    // Most sign-ons change nothing, and write nothing.
    if (plan.user && isSame) return plan.user
    const apply = (): Promise<User> =>
      this.#deps.provisioning.run(client, async provisioner =>
        applyPlan(provisioner, await this.plan(identity, provider, provisioner.tx), provider.name),
      )
    try {
      return await apply()
    } catch (error) {
      // Another sign-on created the user or a group at the same moment: now they are found.
      if (!(error instanceof Conflict)) throw error
      return await apply()
    }
  }

  /** The changes that a sign-on of this identity makes. Nothing is changed yet. @throws {SsoRefused} */
  async plan(
    identity: VerifiedIdentity,
    provider: ProviderPolicy,
    queries: Queries = this.#deps.database,
  ): Promise<SignOnPlan> {
    const { attributes = {} } = identity
    const { rules } = provider
    // First: a refusal for a lacking value reveals nothing about accounts.
    if (rules) requireValues(attributes, rules)
    const name = requireNameOf(identity)
    this.#requireDomain(name, provider)
    const { subject = name } = identity
    if (!isSubject(subject))
      throw refused('token-sub', 'at most 255 characters, no control characters', showName(subject))
    const link: SsoSubject = { issuer: identity.issuer, subject }
    const linked = await findLinkedUser(queries, link)
    const user = linked ?? (await findByName(queries, identity, name, provider))
    // Also checked by id, because ids of the service begin with `_`: admin cannot be reached under any name (I5.4).
    if (user?.id.startsWith('_')) {
      throw refused('reserved-user', 'a user other than admin', name)
    }
    if (user?.disabled) throw refused('account-disabled', 'an account that is not disabled', name)
    const profile: ProfilePlan = rules
      ? await planProfile(queries, user, attributes, rules)
      : { changes: [], user: {}, personal: {} }
    const groups = await planGroups(queries, user, attributes, {
      provider: provider.name,
      providers: this.#names,
      rules: groupRulesFor(rules?.groups, identity.issuer),
    })
    return { name, link, isLinked: linked !== undefined, user, profile, groups }
  }

  /** A provider signs in users of its own domains; a provider without domains, users of domains that no other provider claims. */
  #requireDomain(name: string, provider: ProviderPolicy): void {
    if (provider.domains === undefined || (provider.acceptsPlainNames && !name.includes('@'))) return
    const [local, domain, ...more] = name.split('@')
    if (!local || !domain || more.length > 0) throw refused('name', 'an e-mail address', name)
    const ascii = asciiDomain(domain)
    const isClaimed = this.#providers.some(({ domains }) => domains?.includes(ascii))
    const isAllowed = provider.domains.length > 0 ? provider.domains.includes(ascii) : !isClaimed
    if (!isAllowed) throw refused('domain', provider.domains.join(', ') || 'a domain of no other provider', domain)
  }
}

/**
 * The user with a name that the provider vouches for; `undefined` for a user who does not exist yet. An account that the issuer has linked
 * to another subject is not found: the provider may have given the address of a former user to a new user.
 */
async function findByName(
  queries: Queries,
  identity: VerifiedIdentity,
  name: string,
  provider: ProviderPolicy,
): Promise<User | undefined> {
  if (identity.nameIsUnverified) throw refused('email-verified', 'an address that the provider has verified', name)
  const user = await findUserByName(queries, name)
  if (!user) {
    if (!provider.provisions) throw refused('unknown-user', 'a user who is known', name)
    // Asked for a group alone: another sign-on may have created the user since.
    if ((await findGroupByName(queries, name)) !== undefined) {
      throw refused('unknown-user', 'a name that no group has', name)
    }
    return undefined
  }
  const isOther = identity.subject !== undefined && (await isLinkedTo(queries, user.id, identity.issuer))
  if (isOther) throw refused('account-linked', 'an account without a link to another user of this provider', name)
  return user
}

async function applyPlan(provisioner: Provisioner, plan: SignOnPlan, provider: string): Promise<User> {
  const { tx } = provisioner
  const { profile, groups, link, isLinked } = plan
  const user = plan.user ?? (await provisioner.createUser(plan.name))
  if (!isLinked) await linkUser(tx, link, user.id)
  const changed = Object.keys(profile.user).length > 0 ? await changeUser(tx, user, profile.user) : user
  if (Object.keys(profile.personal).length > 0) await provisioner.setPersonalData(user.id, profile.personal)
  const subject = { userId: user.id, userName: user.name }
  if (profile.changes.length > 0) {
    const shown = (side: 'before' | 'after'): string =>
      shortened(profile.changes.map(({ target, [side]: value }) => `${target}: ${value ?? ''}`))
    const detail = { mechanism: provider, before: shown('before'), after: shown('after') }
    provisioner.record({ event: 'profile-changed', ...subject, detail })
  }
  if (!keepsGroups(groups)) await applyGroups(provisioner, user, groups, provider)
  return changed
}

async function applyGroups(
  provisioner: Provisioner,
  { id: userId, name: userName }: User,
  { given, taken, orphans, created, before, after }: GroupPlan,
  provider: string,
): Promise<void> {
  const { tx } = provisioner
  const ids = given.map(({ id }) => id)
  for (const name of created) ids.push(await provisioner.createGroup(name))
  // First given, then taken, so that a membership which one provider takes over from another never ends.
  await giveMemberships(tx, provider, userId, ids)
  await takeMemberships(
    tx,
    provider,
    userId,
    taken.map(({ id }) => id),
  )
  for (const former of new Set(orphans.map(orphan => orphan.provider))) {
    const left = orphans.filter(orphan => orphan.provider === former).map(({ groupId }) => groupId)
    await takeMemberships(tx, former, userId, left)
  }
  const [had, has] = [new Set(before), new Set(after)]
  const added = after.filter(name => !had.has(name))
  const removed = before.filter(name => !has.has(name))
  // Another provider can take over a membership that the user has already.
  if (added.length + removed.length === 0) return
  const detail = {
    mechanism: provider,
    added: shortened(added),
    removed: shortened(removed),
    before: shortened(before),
    after: shortened(after),
  }
  provisioner.record({ event: 'groups-changed', userId, userName, detail })
}

/** A row of the audit log is limited in size. */
const MAX_NAMED = 50
const MAX_CHARACTERS = 2000

function shortened(texts: readonly string[]): string {
  const more = texts.length - MAX_NAMED
  const text = texts.slice(0, MAX_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '')
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS).toWellFormed()} …`
}

/** In a federation only the providers that a setting names may decide about groups. */
const groupRulesFor = (rules: GroupRules | undefined, issuer: string): GroupRules | undefined =>
  rules?.issuers && !rules.issuers.has(issuer) ? undefined : rules

/** OpenID Connect Core 2 limits a subject to 255 characters; a store cannot have others of these as a key. */
const isSubject = (text: string): boolean => /^[^\p{Cc}\p{Cs}]{1,255}$/u.test(text)

/** In its normal form, by which everything else is decided. @throws {SsoRefused} */
function requireNameOf({ name: stated }: VerifiedIdentity): string {
  let name: string
  try {
    name = requireName(stated)
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error
    throw refused('name', 'a name that a user can have', normaliseName(stated))
  }
  if (name === systemNames[ADMIN]) throw refused('reserved-user', 'a user other than admin', name)
  if (plainNameOf(stated) === undefined)
    throw refused('name', `${showName(name)}, but for upper case`, showName(stated))
  return name
}

/** Domains are compared in their ASCII form, as the settings hold them. */
export const asciiDomain = (domain: string): string =>
  URL.canParse(`http://${domain}/`) ? new URL(`http://${domain}/`).hostname : domain
