import { InvalidInput } from '../base/errors.ts'
import { asciiDomain } from './account-matcher.ts'
import type { ProviderPolicy } from './identity-provider.ts'

/** What a request for a login can name. */
export interface LoginRequest {
  readonly idp: string | undefined
  readonly username: string | undefined
  readonly successUrl: string | undefined
  readonly failureUrl: string | undefined
}

/** The provider that owns the domain of this user name. */
export function ownerOfDomain<Login extends { readonly policy: ProviderPolicy }>(
  providers: readonly Login[],
  username: string | undefined,
): Login | undefined {
  const domain = username?.split('@').at(-1)?.toLowerCase()
  const ascii = domain === undefined ? undefined : asciiDomain(domain)
  return providers.find(({ policy }) => ascii !== undefined && policy.domains?.includes(ascii))
}

/** By name, else by the domain of the user name, else the default (D8.1). @throws {InvalidInput} `unknown-idp` */
export function chooseProvider<Login extends { readonly policy: ProviderPolicy }>(
  providers: readonly Login[],
  defaultProvider: string | undefined,
  { idp, username }: Pick<LoginRequest, 'idp' | 'username'>,
): Login {
  const named = (name: string | undefined): Login | undefined => providers.find(({ policy }) => policy.name === name)
  const chosen = idp === undefined ? (ownerOfDomain(providers, username) ?? named(defaultProvider)) : named(idp)
  if (chosen) return chosen
  const wanted = idp === undefined ? 'The request names no identity provider' : `There is no identity provider "${idp}"`
  throw new InvalidInput('unknown-idp', `${wanted}; there is ${providers.map(({ policy }) => policy.name).join(', ')}.`)
}
