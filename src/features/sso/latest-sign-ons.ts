import type { System } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'
import type { Attributes } from './attributes.ts'
import type { VerifiedIdentity } from './identity-provider.ts'

/** What a provider stated at the latest sign-on that passed the checks of its protocol; it may have been refused afterwards. */
interface LatestSignOn {
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

  constructor(system: System) {
    this.#system = system
  }

  keep(provider: string, { name, subject, attributes = {} }: VerifiedIdentity): void {
    const isSmall = JSON.stringify(attributes).length <= MAX_KEPT_CHARACTERS
    const kept = { time: this.#system.now(), provider, name, subject, attributes: isSmall ? attributes : undefined }
    this.#latest.set(provider, kept)
  }

  find(provider: string): LatestSignOn | undefined {
    return this.#latest.get(provider)
  }
}
