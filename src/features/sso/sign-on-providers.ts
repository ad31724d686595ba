import { InvalidInput } from '../../base/errors.ts'
import type { BaseAddress } from '../../http/base-address.ts'
import type { IdentityProviders } from '../../http/identity-providers.ts'
import type { RunningProtocols } from './running-protocols.ts'

/** The providers of all protocols, for the pages of sign-in and sign-out. */
export const signOnProviders = (running: RunningProtocols, base: () => BaseAddress): IdentityProviders => ({
  get knowDomains() {
    return running.logins.some(({ policy }) => (policy.domains ?? []).length > 0)
  },
  list: successUrl =>
    running.all.flatMap(protocol =>
      protocol.logins.map(({ policy, display }) => ({
        name: display.label,
        url: protocol.urlOf({ provider: policy.name, successUrl }),
      })),
    ),
  urlFor(email, successUrl) {
    const able = running.all.filter(({ choice }) => choice)
    const protocol = able.find(({ choice }) => choice?.ownerOf(email)) ?? able[0]
    const login = protocol?.choice?.choose(undefined, email)
    if (!protocol || !login) throw new InvalidInput('unknown-idp', 'This service has no identity providers.')
    return protocol.urlOf({ provider: login.policy.name, successUrl, email })
  },
  async find(provider) {
    const protocol = running.all.find(({ logins }) => logins.some(({ policy }) => policy.name === provider))
    const display = protocol?.logins.find(({ policy }) => policy.name === provider)?.display
    if (!protocol || !display) return undefined
    const logoutUrl = await protocol.logoutPage(provider, base().at('auth/login'))
    return { name: display.label, logoutUrl }
  },
  async beginLogout(session, client) {
    for (const protocol of running.all) {
      const redirect = await protocol.beginLogout(session, client, base().at('auth/login'))
      if (redirect) return redirect
    }
    return undefined
  },
  abandon: async cookies =>
    (await Promise.all(running.all.map(async one => (await one.abandon?.(cookies)) ?? []))).flat(),
})
