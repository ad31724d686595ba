import type { SsoCheck } from './checks.ts'
import { normaliseName, requireName } from '../accounts/names.ts'
import { ADMIN, systemNames } from '../accounts/principals.ts'
import type { Client } from '../accounts/sessions.ts'
import { findLinkedUser, isLinkedTo, linkUser, type SsoSubject } from '../accounts/sso-links.ts'
import { findUserByName, type User } from '../accounts/users.ts'
import { Conflict, InvalidInput } from '../base/errors.ts'
import type { Provisioning } from '../content/provisioning.ts'
import type { Database } from '../stores/database.ts'
import type { ProviderPolicy, VerifiedIdentity } from './identity-provider.ts'
import { SsoRefused } from './refusal.ts'

interface Dependencies {
  readonly database: Database
  readonly provisioning: Provisioning
}

/**
 * Finds or creates the user that a verified identity belongs to (D8.4, D9.2), with the same rules for every protocol. The
 * first sign-on links the identity to the user's id. From then on the link counts, not the name: a renamed user keeps the
 * account, and a new user with an old name inherits nothing (D1.7).
 */
export class AccountMatcher {
  readonly #deps: Dependencies
  readonly #providers: readonly ProviderPolicy[]

  constructor(deps: Dependencies, providers: readonly ProviderPolicy[]) {
    this.#deps = deps
    this.#providers = providers
  }

  /** The user linked to the subject, without any check. */
  async find(subject: SsoSubject): Promise<User | undefined> {
    return await findLinkedUser(this.#deps.database, subject)
  }

  /** @throws {SsoRefused} */
  async match(identity: VerifiedIdentity, provider: ProviderPolicy, client: Client): Promise<User> {
    const name = nameOf(identity)
    if (name === systemNames[ADMIN]) throw refused('reserved-user', 'a user other than admin', name)
    this.#requireDomain(name, provider)
    const link: SsoSubject = { issuer: identity.issuer, subject: identity.subject ?? name }
    const { database } = this.#deps
    const linked = await findLinkedUser(database, link)
    const user = linked ?? (await this.#byName(identity, name, provider, client))
    // By id as well: admin cannot be reached under any name (I5.4).
    if (user.id === ADMIN || user.id.startsWith('_')) throw refused('reserved-user', 'a user other than admin', name)
    if (user.disabled) throw refused('account-disabled', 'an account that is not disabled', name)
    if (!linked) await linkUser(database, link, user.id)
    return user
  }

  /**
   * Finds or creates the user of a name that the provider vouches for. An account that the issuer has linked to another
   * subject is not found: the provider may have given the address of a former user to a new one.
   */
  async #byName(identity: VerifiedIdentity, name: string, provider: ProviderPolicy, client: Client): Promise<User> {
    if (identity.nameIsUnverified) throw refused('email-verified', 'an address that the provider has verified', name)
    const { database } = this.#deps
    const user = await findUserByName(database, name)
    if (!user) return await this.#provision(name, provider, client)
    const isOther = identity.subject !== undefined && (await isLinkedTo(database, user.id, identity.issuer))
    if (isOther) throw refused('account-linked', 'an account without a link to another user of this provider', name)
    return user
  }

  /** A provider signs in users of its own domains; one without domains, those of domains that no other claims. */
  #requireDomain(name: string, provider: ProviderPolicy): void {
    if (provider.domains === undefined || (provider.acceptsPlainNames && !name.includes('@'))) return
    const [local, domain, ...more] = name.split('@')
    if (!local || !domain || more.length > 0) throw refused('name', 'an e-mail address', name)
    const ascii = asciiDomain(domain)
    const isClaimed = this.#providers.some(({ domains }) => domains?.includes(ascii))
    const isAllowed = provider.domains.length > 0 ? provider.domains.includes(ascii) : !isClaimed
    if (!isAllowed) throw refused('domain', provider.domains.join(', ') || 'a domain of no other provider', domain)
  }

  async #provision(name: string, provider: ProviderPolicy, client: Client): Promise<User> {
    if (!provider.provisions) throw refused('unknown-user', 'a user who is known', name)
    try {
      return await this.#deps.provisioning.createUser(name, client)
    } catch (error) {
      if (!(error instanceof Conflict)) throw error
      // Another login created the user at the same moment, or a group has the name.
      const user = await findUserByName(this.#deps.database, name)
      if (!user) throw refused('unknown-user', 'a name that no group has', name)
      return user
    }
  }
}

function nameOf({ name }: VerifiedIdentity): string {
  try {
    return requireName(name)
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error
    throw refused('name', 'a name that a user can have', normaliseName(name))
  }
}

/** Domains are compared in their ASCII form, as the settings hold them. */
export const asciiDomain = (domain: string): string =>
  URL.canParse(`http://${domain}/`) ? new URL(`http://${domain}/`).hostname : domain

const refused = (check: SsoCheck, expected: string, received: string): SsoRefused =>
  new SsoRefused({ check, expected, received })
