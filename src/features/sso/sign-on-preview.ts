import type { AccountMatcher } from './account-matcher.ts'
import type { Attributes } from './attributes.ts'
import type { ProviderPolicy, VerifiedIdentity } from './identity-provider.ts'
import { type FailedCheck, SsoRefused } from './refusal.ts'
import type { LatestSignOns } from './latest-sign-ons.ts'
import type { GroupPlan, ValueChange } from './sign-on-plan.ts'

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

/** The data of a user of a provider. Without a name, the name is read from the attributes, if the protocol has it there. */
export interface PreviewIdentity {
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
  async of(provider: string, tried: PreviewIdentity): Promise<SignOnResult | undefined> {
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

function identityOf({ provider }: PreviewedProvider, tried: PreviewIdentity): Omit<VerifiedIdentity, 'issuer'> {
  const { name, attributes } = tried
  const { sub } = attributes
  const subject = tried.subject ?? (provider.readName && typeof sub === 'string' ? sub : undefined)
  const named = name === undefined && provider.readName ? provider.readName(attributes) : { name: name ?? '' }
  return { ...named, attributes, ...(subject === undefined ? {} : { subject }) }
}
