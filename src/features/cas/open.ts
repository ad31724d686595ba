import type { Core } from '../../core/core.ts'
import { FlowCookie } from '../../http/browser-cookies.ts'
import type { Sso } from '../sso/open.ts'
import type { RunningProtocol } from '../sso/running-protocols.ts'
import { CAS_PATH } from './addresses.ts'
import { createCas } from './create-provider.ts'
import type { CasSettings } from './settings.ts'
import { CasSignOn } from './sign-on.ts'

/** Sign-on with these settings. */
export function createCasSignOn(core: Core, { signOn, flows }: Sso, settings: CasSettings): CasSignOn {
  return new CasSignOn(
    { signOn, flows },
    createCas(settings, core.system, () => core.address.base),
  )
}

export const runningCas = (signOn: CasSignOn, { address, settings }: Core): RunningProtocol => ({
  logins: [signOn.login],
  urlOf: ({ successUrl }) =>
    address.base.at(CAS_PATH) +
    (successUrl === undefined ? '' : `?${new URLSearchParams({ successurl: successUrl }).toString()}`),
  logoutPage: async () => signOn.display.logoutUrl,
  async beginLogout(session, _client, returnTo) {
    const url = signOn.logoutUrl(session, returnTo)
    return url === undefined ? undefined : { kind: 'redirect', url }
  },
  async abandon(cookies) {
    const cookie = new FlowCookie(address.base, settings['service.auth.cookie.secure'], 'cas')
    if (!cookie.isIn(cookies)) return []
    await signOn.consumeFlow(cookie.read(cookies))
    return [cookie.clear()]
  },
  status: async () => ({ serviceUrl: address.base.at(CAS_PATH) }),
})
