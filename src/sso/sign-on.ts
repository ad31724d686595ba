import type { Audit } from '../accounts/audit.ts'
import { normaliseName, requireName } from '../accounts/names.ts'
import { ADMIN, systemNames } from '../accounts/principals.ts'
import type { Client } from '../accounts/sessions.ts'
import { findUserByName, type User } from '../accounts/users.ts'
import { Conflict, InvalidInput, SsoRefused } from '../base/errors.ts'
import type { Provisioning } from '../content/provisioning.ts'
import type { Database } from '../stores/database.ts'
import type { VerifiedIdentity, ProviderPolicy } from './identity-provider.ts'

interface Dependencies {
  readonly database: Database
  readonly provisioning: Provisioning
  readonly audit: Audit
}

/** From the word of a provider to a user (D8.4, D9.2): the same judgement whichever protocol carried it. */
export class SignOn {
  readonly #deps: Dependencies
  readonly #providers: readonly ProviderPolicy[]

  constructor(deps: Dependencies, providers: readonly ProviderPolicy[]) {
    this.#deps = deps
    this.#providers = providers
  }

  /** @throws {SsoRefused} */
  async accept(claim: VerifiedIdentity, provider: ProviderPolicy, client: Client): Promise<User> {
    const name = nameOf(claim)
    if (name === systemNames[ADMIN]) throw refused('reserved-user', 'a user other than admin', name)
    this.#requireDomain(name, provider)
    const user = (await findUserByName(this.#deps.database, name)) ?? (await this.#provision(name, provider, client))
    // By id as well: admin may not be reached under any name (interface 5.4).
    if (user.id === ADMIN || user.id.startsWith('_')) throw refused('reserved-user', 'a user other than admin', name)
    if (user.disabled) throw refused('account-disabled', 'an account that is not disabled', name)
    await this.#deps.audit.record({
      event: 'login',
      userId: user.id,
      userName: user.name,
      actorId: user.id,
      address: client.address,
      detail: { mechanism: provider.name },
    })
    return user
  }

  /** A provider speaks for its own domains; one without, for those that no other claims. */
  #requireDomain(name: string, provider: ProviderPolicy): void {
    if (provider.domains === undefined) return
    const [local, domain, ...more] = name.split('@')
    if (!local || !domain || more.length > 0) throw refused('name', 'an e-mail address', name)
    const ascii = asciiDomain(domain)
    const claimed = this.#providers.filter(({ domains }) => domains?.includes(ascii))
    const speaks = provider.domains.length > 0 ? provider.domains.includes(ascii) : claimed.length === 0
    if (!speaks) throw refused('domain', provider.domains.join(', ') || 'a domain of no other provider', domain)
  }

  async #provision(name: string, provider: ProviderPolicy, client: Client): Promise<User> {
    if (!provider.provisions) throw refused('unknown-user', 'a user who is known', name)
    try {
      return await this.#deps.provisioning.createUser(name, client)
    } catch (error) {
      if (!(error instanceof Conflict)) throw error
      // Made by another login at the same moment, or the name of a group.
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

const refused = (check: string, expected: string, received: string): SsoRefused =>
  new SsoRefused({ check, expected, received })
