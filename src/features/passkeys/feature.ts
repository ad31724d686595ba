import type { Settings, SettingsOf } from '../../config/settings.ts'
import { offer, optionalFeature } from '../../core/feature.ts'
import { factors } from '../factors/feature.ts'
import { passkeyCodes } from './codes.ts'
import { passkeyEvents } from './events.ts'
import { PasskeySignIn } from './passkey-sign-in.ts'
import { type PasskeyOptions, Passkeys, relyingPartyOf } from './passkeys.ts'
import { passkeyRoutes } from './routes.ts'
import { passkeySettings } from './settings.ts'

/** `undefined` where browsers offer no passkeys, as at the default base address, which has no host name. */
function optionsOf(settings: Settings & SettingsOf<typeof passkeySettings.rows>): PasskeyOptions | undefined {
  const base = settings['service.baseurl.folder']
  const relyingParty = relyingPartyOf(base, 'Stowage')
  if (settings['service.auth.passkeys'] === 'off' || base === undefined || !relyingParty) return undefined
  return { relyingParty, base }
}

export const passkeys = optionalFeature({
  name: 'passkeys',
  settings: passkeySettings,
  needs: { factors },
  codes: passkeyCodes,
  events: passkeyEvents,
  routes: passkeyRoutes,
  isOn: ({ settings }) => optionsOf(settings) !== undefined,
  checksWhileOff: true,
  checks: async ({ settings }) =>
    await (await import('./checks.ts')).checkPasskeys(settings, optionsOf(settings)?.relyingParty),
  open: (core, { factors: { factors, factorPolicy } }) => {
    const { devices, sessions, settings, signIn, signInPage, stepUp } = core
    const options = optionsOf(settings)
    if (!options) throw new TypeError('passkeys are off')
    const passkeys = new Passkeys(core, options)
    factors.passkeys = passkeys
    const passkeySignIn =
      settings['service.auth.passkeys'] === 'sign-in' ? new PasskeySignIn({ ...core, passkeys, factors }) : undefined
    if (passkeySignIn) signInPage.passkey = { optionsPath: 'auth/passkey/options', signInPath: 'auth/passkey' }
    const services = { devices, factors, factorPolicy, passkeys, passkeySignIn, sessions, signIn, stepUp }
    return { offers: offer(services, passkeyRoutes) }
  },
})
