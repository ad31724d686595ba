import type { System } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import type { AccountMatcher } from './account-matcher.ts'
import type { Attributes } from './attributes.ts'
import type { ProviderPolicy, VerifiedIdentity } from './identity-provider.ts'
import { type FailedCheck, SsoRefused } from './refusal.ts'
import type { GroupPlan, ValueChange } from './sign-on-plan.ts'

/** What a provider stated at the latest sign-on that passed the checks of its protocol; it may have been refused afterwards. */
export interface LatestSignOn {
  readonly time: Milliseconds
  readonly provider: string
  readonly name: string
  readonly subject: string | undefined
  /** Absent if they are too large to be kept. */
  readonly attributes: Attributes | undefined
}

const MAX_KEPT_CHARACTERS = 65_536

/** The latest sign-on of each provider, in the memory of this process only: it is personal data. */
export class LatestSignOns {
  readonly #system: System
  readonly #latest = new Map<string, LatestSignOn>()
  readonly #ofAll: () => Promise<ReadonlyArray<readonly LatestSignOn[]>>

  /** @param ofAll those of all threads, where there are several */
  constructor(system: System, ofAll?: () => Promise<ReadonlyArray<readonly LatestSignOn[]>>) {
    this.#system = system
    this.#ofAll = ofAll ?? (async () => [this.ofThread()])
  }

  keep(provider: string, { name, subject, attributes = {} }: VerifiedIdentity): void {
    const isSmall = JSON.stringify(attributes).length <= MAX_KEPT_CHARACTERS
    const kept = { time: this.#system.now(), provider, name, subject, attributes: isSmall ? attributes : undefined }
    this.#latest.set(provider, kept)
  }

  /** Those of this thread. */
  ofThread(): readonly LatestSignOn[] {
    return [...this.#latest.values()]
  }

  async find(provider: string): Promise<LatestSignOn | undefined> {
    const all = (await this.#ofAll()).flat().filter(one => one.provider === provider)
    return all.sort((a, b) => b.time - a.time)[0]
  }
}

/** A provider whose sign-ons can be tried. */
export interface PreviewedProvider {
  readonly policy: ProviderPolicy
  readonly provider: {
    /** The name of the provider in account links; `undefined` while it is not known. */
    readonly issuer: string | Promise<string | undefined>
    /** Reads the name from the attributes, for protocols that have it there. @throws {SsoRefused} */
    readonly readName?: (attributes: Attributes) => Pick<VerifiedIdentity, 'name' | 'nameIsUnverified'>
  }
}

/** What is known about a user of a provider. Without a name it is read from the attributes, where the protocol has it there. */
export interface TriedIdentity {
  readonly name?: string | undefined
  readonly subject?: string | undefined
  readonly attributes: Attributes
}

/** What a sign-on would yield. */
export type SignOnResult =
  | { readonly refused: FailedCheck }
  | {
      readonly name: string
      /** Id of the user; `undefined`: one would be created. */
      readonly userId: string | undefined
      readonly changes: readonly ValueChange[]
      readonly groups: GroupPlan
    }

/** Shows what a sign-on would yield, without changing anything (D27.7). */
export class SignOnPreview {
  readonly latest: LatestSignOns
  readonly #accounts: AccountMatcher
  readonly #providers: readonly PreviewedProvider[]

  constructor(accounts: AccountMatcher, latest: LatestSignOns, providers: readonly PreviewedProvider[]) {
    this.#accounts = accounts
    this.latest = latest
    this.#providers = providers
  }

  get providers(): readonly string[] {
    return this.#providers.map(({ policy }) => policy.name)
  }

  /** `undefined` for an unknown provider. */
  async of(provider: string, tried: TriedIdentity): Promise<SignOnResult | undefined> {
    const found = this.#providers.find(({ policy }) => policy.name === provider)
    if (!found) return undefined
    try {
      const issuer = (await found.provider.issuer) ?? ''
      const plan = await this.#accounts.plan({ ...identityOf(found, tried), issuer }, found.policy)
      return { name: plan.name, userId: plan.user?.id, changes: plan.profile.changes, groups: plan.groups }
    } catch (error) {
      if (error instanceof SsoRefused) return { refused: error.failed }
      throw error
    }
  }
}

function identityOf({ provider }: PreviewedProvider, tried: TriedIdentity): Omit<VerifiedIdentity, 'issuer'> {
  const { name, attributes } = tried
  const { sub } = attributes
  const subject = tried.subject ?? (provider.readName && typeof sub === 'string' ? sub : undefined)
  const named = name === undefined && provider.readName ? provider.readName(attributes) : { name: name ?? '' }
  return { ...named, attributes, ...(subject === undefined ? {} : { subject }) }
}
