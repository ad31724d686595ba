import type { LoginTarget } from '../sso/sign-on.ts'
import type { FederationLogin, SamlProvider } from './provider.ts'

/** The parameter in which a discovery service returns the choice. */
export const CHOICE = 'entityID'
/** Marks a browser that comes back from a discovery service, with a choice or without. */
export const DISCOVERED = 'discovered'

/**
 * The address that asks a discovery service for an identity provider (Identity Provider Discovery Service Protocol 2.4.1). The return
 * address contains the request, so nothing is stored for visitors who never choose.
 */
export function discoveryRequest(
  { name, relyingPartyId }: Pick<SamlProvider, 'name' | 'relyingPartyId'>,
  { discoveryUrl, returnUrl }: Pick<FederationLogin, 'discoveryUrl' | 'returnUrl'>,
  { successUrl, failureUrl }: LoginTarget,
): string {
  const back = new URL(returnUrl())
  back.searchParams.set('idp', name)
  back.searchParams.set(DISCOVERED, 'true')
  if (successUrl !== undefined) back.searchParams.set('successurl', successUrl)
  if (failureUrl !== undefined) back.searchParams.set('failureurl', failureUrl)
  const service = new URL(discoveryUrl ?? `${returnUrl()}/discovery`)
  if (discoveryUrl === undefined) service.searchParams.set('idp', name)
  service.searchParams.set('entityID', relyingPartyId)
  service.searchParams.set('return', back.href)
  service.searchParams.set('returnIDParam', CHOICE)
  return service.href
}
