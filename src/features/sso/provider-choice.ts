import { InvalidInput } from '../../base/errors.ts'
import { asciiDomain } from './account-matcher.ts'
import type { ProviderPolicy } from './identity-provider.ts'
import type { RedirectTargets } from './redirect-targets.ts'
import type { LoginTarget, NewLogin } from './sign-on.ts'

/** The parameters of a request for a sign-on. */
export interface LoginRequest {
  readonly idp: string | undefined
  readonly username: string | undefined
  readonly successUrl: string | undefined
  readonly failureUrl: string | undefined
}

export interface ProviderOptions<Login> extends LoginTarget {
  readonly providers: readonly Login[]
  /** Name of the provider for requests that name neither a provider nor a user. */
  readonly defaultProvider: string | undefined
  readonly targets: Pick<RedirectTargets, 'require'>
}

/** The providers of a protocol, and which of them a request means. */
export class ProviderChoice<Login extends { readonly policy: ProviderPolicy }> {
  protected readonly options: ProviderOptions<Login>

  constructor(options: ProviderOptions<Login>) {
    this.options = options
  }

  get providers(): readonly Login[] {
    return this.options.providers
  }

  /** Where users are sent if the sign-on names no address. */
  get successUrl(): string | undefined {
    return this.options.successUrl
  }

  find(name: string | undefined): Login | undefined {
    return this.providers.find(({ policy }) => policy.name === name)
  }

  /** The provider that owns the domain of this user name. */
  ownerOf(username: string | undefined): Login | undefined {
    const domain = username?.split('@').at(-1)?.toLowerCase()
    const ascii = domain === undefined ? undefined : asciiDomain(domain)
    return this.providers.find(({ policy }) => ascii !== undefined && policy.domains?.includes(ascii))
  }

  /** By name, else by the domain of the user name, else the default (D8.1). @throws {InvalidInput} `unknown-idp` */
  choose(idp: string | undefined, username: string | undefined): Login {
    const chosen =
      idp === undefined ? (this.ownerOf(username) ?? this.find(this.options.defaultProvider)) : this.find(idp)
    if (chosen) return chosen
    const wanted =
      idp === undefined ? 'The request names no identity provider' : `There is no identity provider "${idp}"`
    const names = this.providers.map(({ policy }) => policy.name)
    throw new InvalidInput('unknown-idp', `${wanted}; there is ${names.join(', ')}.`)
  }

  /** The addresses that a request names (D8.7). @throws {InvalidInput} `invalid-redirect` */
  protected targetOf({ successUrl, failureUrl }: LoginTarget): Omit<NewLogin, 'bound'> {
    const { targets, failureUrl: fallbackFailureUrl } = this.options
    return {
      successUrl: successUrl === undefined ? undefined : targets.require(successUrl, 'successurl'),
      failureUrl: failureUrl === undefined ? undefined : targets.require(failureUrl, 'failureurl'),
      fallbackFailureUrl,
    }
  }
}
