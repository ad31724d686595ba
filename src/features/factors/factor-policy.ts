import { Forbidden } from '../../base/errors.ts'
import type { Database } from '../../stores/database.ts'
import { type Caller, isGuest } from '../../accounts/caller.ts'
import { isAdministrator } from '../../accounts/caller-guards.ts'
import { findPrincipalNamed, normaliseName } from '../../accounts/users.ts'

/** Who must have a second factor. `off`: no user can add one, and those who have one are still asked for it. */
export type FactorRequirement = 'off' | 'optional' | 'admins' | 'all'

interface FactorPolicyOptions {
  readonly requirement: FactorRequirement
  /** Names of groups whose members must have a second factor, as written in the settings. */
  readonly groups: readonly string[]
}

/** Decides who must have a second factor (D28.9). */
export class FactorPolicy {
  readonly #database: Database
  readonly #requirement: FactorRequirement
  readonly #groups: readonly string[]

  constructor(database: Database, { requirement, groups }: FactorPolicyOptions) {
    this.#database = database
    this.#requirement = requirement
    this.#groups = groups.map(normaliseName)
  }

  /** Whether users can add second factors. */
  get isOffered(): boolean {
    return this.#requirement !== 'off'
  }

  /** Whether the caller must add a second factor before anything else. */
  async isMissing(caller: Pick<Caller, 'user' | 'groups' | 'session'>): Promise<boolean> {
    const { user, session } = caller
    // Not `hasSecondFactor` of the session: the user may have removed the factor since.
    if (isGuest(caller) || user.hasSecondFactor || session?.hasProviderFactor === true) return false
    return await this.#isRequired(caller)
  }

  /** @throws {Forbidden} `second-factor-missing` */
  async requirePresent(caller: Caller): Promise<void> {
    if (await this.isMissing(caller))
      throw new Forbidden('second-factor-missing', 'This account must have a second factor. Add one first.')
  }

  async #isRequired({ user, groups }: Pick<Caller, 'user' | 'groups'>): Promise<boolean> {
    if (this.#requirement === 'off') return false
    if (this.#requirement === 'all') return true
    if (this.#requirement === 'admins' && isAdministrator({ user, groups })) return true
    return await this.#isInNamedGroup(groups)
  }

  async #isInNamedGroup(groups: ReadonlySet<string>): Promise<boolean> {
    for (const name of this.#groups) {
      const id = await findPrincipalNamed(this.#database, name)
      if (id !== undefined && groups.has(id)) return true
    }
    return false
  }
}
