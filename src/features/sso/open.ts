import type { SignIn } from '../../accounts/sign-in.ts'
import type { Sessions } from '../../accounts/sessions.ts'
import type { TrustedDevices } from '../../accounts/trusted-devices.ts'
import { Provisioning } from '../../content/provisioning.ts'
import type { Core } from '../../core/core.ts'
import { AccountMatcher } from './account-matcher.ts'
import { SsoFailures } from './failures.ts'
import { LoginFlows } from './login-flows.ts'
import { RunningProtocols } from './running-protocols.ts'
import { SignOn } from './sign-on.ts'
import { LatestSignOns } from './latest-sign-ons.ts'
import { SignOnPreview } from './sign-on-preview.ts'
import { signOnProviders } from './sign-on-providers.ts'

/** The services on which protocols of sign-on build. */
export interface Sso {
  readonly signOn: SignOn
  readonly flows: LoginFlows
  /** A protocol that is on puts itself in, and replaces itself when its settings change. */
  readonly running: RunningProtocols
  readonly failures: SsoFailures
  /** Of the providers that there are now. */
  readonly preview: () => SignOnPreview
  /** The services that the end of a sign-on needs. */
  readonly sessions: Sessions
  readonly signIn: SignIn
  readonly devices: TrustedDevices | undefined
  readonly landsOnPage: () => boolean
}

/** Sign-on by whichever protocol. @param landsOnPage see {@link Sso} */
export function openSso(core: Core, landsOnPage: () => boolean): Sso {
  const { database, changes, ephemeral, sessions, signIn, devices, system, address } = core
  const provisioning = new Provisioning(changes)
  const running = new RunningProtocols()
  // Made for each sign-on, because its providers may have been replaced.
  const accountMatcher = () =>
    new AccountMatcher(
      { database, provisioning },
      running.logins.map(({ policy }) => policy),
    )
  const flows = new LoginFlows(ephemeral, system)
  const failures = new SsoFailures(core)
  const latest = new LatestSignOns(system)
  const signOn = new SignOn({
    ...core,
    flows,
    get accounts() {
      return accountMatcher()
    },
    failures,
    latest,
  })
  core.identityProviders.current = signOnProviders(running, () => address.base)
  const preview = (): SignOnPreview => new SignOnPreview(accountMatcher(), latest, running.logins)
  return { signOn, flows, running, failures, preview, sessions, signIn, devices, landsOnPage }
}
