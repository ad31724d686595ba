import { Forbidden } from '../../base/errors.ts'
import type { Database } from '../../stores/database.ts'
import { type Caller, isGuest } from '../caller.ts'
import { normaliseName } from '../names.ts'
import { ADMIN, ADMINS } from '../principals.ts'
import { findPrincipalNamed } from '../users.ts'

/** Who must have a second factor. `off`: no user can add one, and those who have one are still asked for it. */
export type FactorRequirement = 'off' | 'optional' | 'admins' | 'all'

export interface FactorPolicyOptions {
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
    // A provider may have checked a factor: then the session has one, and the user has none.
    if (isGuest(caller) || user.hasSecondFactor || session?.hasSecondFactor === true) return false
    return await this.#isRequired(caller)
  }

  /** @throws {Forbidden} `second-factor-missing` */
  async requirePresent(caller: Caller): Promise<void> {
    if (!(await this.isMissing(caller))) return
    throw new Forbidden('second-factor-missing', 'This account must have a second factor. Add one first.')
  }

  async #isRequired({ user, groups }: Pick<Caller, 'user' | 'groups'>): Promise<boolean> {
    if (this.#requirement === 'off') return false
    if (this.#requirement === 'all') return true
    if (this.#requirement === 'admins' && (user.id === ADMIN || groups.has(ADMINS))) return true
    for (const name of this.#groups) {
      const id = await findPrincipalNamed(this.#database, name)
      if (id !== undefined && groups.has(id)) return true
    }
    return false
  }
}
