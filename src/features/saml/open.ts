import { isoTime } from '../../base/times.ts'
import type { Milliseconds } from '../../base/units.ts'
import type { Core } from '../../core/core.ts'
import type { Sso } from '../sso/open.ts'
import { type RunningProtocol, signOnUrl } from '../sso/running-protocols.ts'
import { redirectTargets } from '../sso/redirect-targets.ts'
import { createSamlProviders } from './create-providers.ts'
import type { Federation } from './federation.ts'
import { type SamlProvider, Verifier } from './provider.ts'
import type { SamlSettings } from './settings.ts'
import { SamlSignOn } from './sign-on.ts'

/** Sign-on by SAML, whose providers are replaced as a whole when their settings change. */
export class RunningSaml {
  readonly #core: Core
  readonly #sso: Sso
  /** Stays, so that responses that are being checked go on. */
  readonly #verifier = new Verifier()
  #current: SamlSignOn

  /** @throws {StartupError} */
  constructor(core: Core, sso: Sso, settings: SamlSettings) {
    this.#core = core
    this.#sso = sso
    this.#current = this.prepare(settings)
    this.use(this.#current)
  }

  get current(): SamlSignOn {
    return this.#current
  }

  /** Sign-on with other settings. @throws {StartupError} */
  prepare(settings: SamlSettings): SamlSignOn {
    const { database, system, address } = this.#core
    const { signOn, flows } = this.#sso
    const base = () => address.base
    const { close, ...created } = createSamlProviders(settings, this.#core, {
      database,
      base,
      verifier: this.#verifier,
    })
    return new SamlSignOn(
      { signOn, flows, system, close },
      {
        ...created,
        targets: redirectTargets(base, settings['service.auth.saml.redirect-domain-whitelist.<n>']),
        successUrl: settings['service.auth.saml.redirect-success.url'],
        failureUrl: settings['service.auth.saml.redirect-failure.url'],
      },
    )
  }

  /** Sign-ons in progress go on. */
  use(signOn: SamlSignOn): void {
    if (signOn !== this.#current) void this.#current.close()
    this.#current = signOn
    this.#sso.running.set('saml', this.#describe(signOn))
  }

  #describe(signOn: SamlSignOn): RunningProtocol {
    const { address, system } = this.#core
    return {
      logins: signOn.providers,
      choice: signOn,
      urlOf: wanted =>
        signOnUrl(address.base.at('auth/saml'), wanted, {
          isTargetSet: signOn.successUrl !== undefined,
          home: address.base.at('ui/'),
        }),
      logoutPage: async provider => signOn.find(provider)?.display.logoutUrl,
      beginLogout: async (session, client) => await signOn.beginLogout(session, client),
      status: async () =>
        await Promise.all(signOn.providers.map(({ provider }) => describeProvider(provider, system.now()))),
    }
  }

  async close(): Promise<void> {
    await this.#current.close()
    await this.#verifier.close()
  }
}

async function describeProvider({ name, acsUrl, metadata, federation }: SamlProvider, now: Milliseconds) {
  if (federation) return { name, acsUrl, ...(await describeFederation(federation.members)) }
  const { url, loadedAt, metadata: known, problem } = await metadata.status()
  return {
    name,
    acsUrl,
    metadata: { url, loaded: isoTime(loadedAt), problem },
    entityId: known?.entityId,
    validUntil: isoTime(known?.validUntil),
    certificates: known?.certificates.map(({ subject, sha256, expires }) => ({
      subject,
      sha256,
      expires: isoTime(expires),
      daysLeft: Math.floor((expires - now) / 86_400_000),
    })),
  }
}

async function describeFederation(members: Federation) {
  const { kind, url, loadedAt, validUntil, offered, unusable, reasons, problem } = await members.status()
  return {
    metadata: { url, loaded: isoTime(loadedAt), problem },
    validUntil: isoTime(validUntil),
    federation: { kind, providers: offered, unusable, reasons },
  }
}
