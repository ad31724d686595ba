import { isoTime } from '../../base/times.ts'
import type { Core } from '../../core/core.ts'
import { FlowCookie } from '../../http/browser-cookies.ts'
import type { Sso } from '../sso/open.ts'
import { redirectTargets } from '../sso/redirect-targets.ts'
import { type RunningProtocol, signOnUrl } from '../sso/running-protocols.ts'
import { CALLBACK_PATH, SIGN_ON_PATH } from './addresses.ts'
import { createOidcProviders } from './create-providers.ts'
import type { OidcProvider } from './provider.ts'
import type { OidcSettings } from './settings.ts'
import { OidcSignOn } from './sign-on.ts'

/** Sign-on with these settings. */
export function createOidcSignOn(core: Core, { signOn, flows }: Sso, settings: OidcSettings): OidcSignOn {
  const base = () => core.address.base
  return new OidcSignOn(
    { signOn, flows, system: core.system },
    {
      providers: createOidcProviders(settings, core, base, core.database),
      defaultProvider: settings['service.auth.oidc.default-idp'],
      targets: redirectTargets(base, settings['service.auth.oidc.redirect-domain-whitelist.<n>']),
      successUrl: settings['service.auth.oidc.redirect-success.url'],
      failureUrl: settings['service.auth.oidc.redirect-failure.url'],
    },
  )
}

export const runningOidc = (signOn: OidcSignOn, { address, settings }: Core): RunningProtocol => ({
  logins: signOn.providers,
  choice: signOn,
  urlOf: wanted =>
    signOnUrl(address.base.at(SIGN_ON_PATH), wanted, {
      isTargetSet: signOn.successUrl !== undefined,
      home: address.base.at('ui/'),
    }),
  logoutPage: async (provider, returnTo) => await signOn.find(provider)?.provider.endSessionUrl(returnTo),
  async beginLogout(session, _client, returnTo) {
    const url = await signOn.logoutUrl(session, returnTo)
    return url === undefined ? undefined : { kind: 'redirect', url }
  },
  // Without its cookie a sign-on cannot be completed.
  async abandon(cookies) {
    const cookie = new FlowCookie(address.base, settings['service.auth.cookie.secure'], 'oidc')
    return cookie.isIn(cookies) ? [cookie.clear()] : []
  },
  status: async () =>
    await Promise.all(signOn.providers.map(({ provider }) => describe(provider, address.base.at(CALLBACK_PATH)))),
})

async function describe({ name, issuer, clientId, metadata }: OidcProvider, callbackUrl: string) {
  const { url, loadedAt, metadata: known, problem } = await metadata.status()
  return {
    name,
    issuer,
    clientId,
    callbackUrl,
    metadata: { url, loaded: isoTime(loadedAt), problem },
    keys: known?.keys.length,
    algorithms: known?.algorithms,
  }
}
