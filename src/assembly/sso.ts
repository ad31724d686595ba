import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Audit } from '../accounts/audit.ts'
import { InvalidInput, StartupError } from '../base/errors.ts'
import type { System } from '../base/system.ts'
import type { Seconds } from '../base/units.ts'
import type { Settings } from '../config/settings.ts'
import { Provisioning } from '../content/provisioning.ts'
import type { BaseAddress } from '../http/base-address.ts'
import { CAS_PATH } from '../http/routes/cas.ts'
import type { CasLogin, SamlLogin, SamlLogins, Sso } from '../http/services.ts'
import type { Machine } from './machine.ts'
import { CasProvider } from '../sso/cas/provider.ts'
import { SsoFailures } from '../sso/failures.ts'
import { LoginFlows } from '../sso/login-flows.ts'
import type { ProviderPolicy } from '../sso/identity-provider.ts'
import { RedirectTargets } from '../sso/redirect-targets.ts'
import { type KeyPair, MetadataSource, SamlProvider, Verifier } from '../sso/saml/provider.ts'
import { asciiDomain, SignOn } from '../sso/sign-on.ts'
import { withQuery } from '../sso/with-query.ts'
import type { Database } from '../stores/database.ts'
import type { EphemeralStore } from '../stores/ephemeral-store.ts'

interface Dependencies {
  readonly database: Database
  readonly ephemeral: EphemeralStore
  readonly audit: Audit
  /** Known only once the server listens. */
  readonly base: () => BaseAddress
}

/** Part of `assembly/server.ts`, which would be too long with it: sign-on by others. */
export function createSso(settings: Settings, machine: Pick<Machine, 'system' | 'log'>, deps: Dependencies): Sso {
  const { database, ephemeral, audit, base } = deps
  const { system } = machine
  const cas = createCas(settings, system, base)
  const saml = createSaml(settings, machine, base)
  const policies = [...(cas ? [cas.policy] : []), ...(saml?.providers ?? []).map(({ policy }) => policy)]
  const provisioning = new Provisioning({ database, audit, system })
  return {
    cas,
    saml,
    landsOnPage: settings['service.auth.sso.landing'] === 'page',
    flows: new LoginFlows(ephemeral, system),
    signOn: new SignOn({ database, provisioning, audit }, policies),
    failures: new SsoFailures(machine),
  }
}

function createCas(settings: Settings, system: System, base: () => BaseAddress): CasLogin | undefined {
  const serverUrl = settings['service.auth.cas.server.url']
  // The settings have been checked: with the switch on, the address is there.
  if (!settings['service.auth.cas'] || serverUrl === undefined) return undefined
  const name = 'cas'
  const provider = new CasProvider(
    {
      name,
      version: settings['service.auth.cas.version'],
      serverUrl,
      loginUrl: settings['service.auth.cas.server.url.login'],
      serviceUrl: () => base().at(CAS_PATH),
      verifyTls: !settings['service.https.disable-verification'],
      clockSkew: settings['service.auth.saml.clock-skew'] * 1000,
    },
    system,
  )
  return {
    provider,
    policy: {
      name,
      provisions: settings['service.auth.cas.user-auto-provisioning'],
      domains: undefined,
      maxAge: settings['service.auth.cas.max-age'],
    },
    successUrl: settings['service.auth.cas.redirect-success.url'],
    failureUrl: settings['service.auth.cas.redirect-failure.url'],
  }
}

/** What the one provider of the deprecated settings is called in logs. */
const LEGACY_NAME = 'saml'

/** What sets one SAML provider apart, from the new settings or the deprecated ones. */
interface SamlSettings {
  readonly name: string
  readonly relyingPartyId: string
  readonly acsUrl: string
  readonly metadataUrl: string
  readonly metadataMaxAge: Seconds
  readonly method: 'get' | 'post'
  readonly allowsUnsolicited: boolean
  readonly policy: ProviderPolicy
}

/** `undefined` while SAML is off. @throws {StartupError} when a key file is of no use */
export function createSaml(
  settings: Settings,
  machine: Pick<Machine, 'system' | 'log'>,
  base: () => BaseAddress,
): SamlLogins | undefined {
  const all = samlSettings(settings)
  if (all.length === 0) return undefined
  const verifier = new Verifier()
  const shared = {
    clockSkew: settings['service.auth.saml.clock-skew'],
    signing: readKeyPair(
      settings['service.auth.saml.signing.key-file'],
      settings['service.auth.saml.signing.certificate-file'],
    ),
    encryption: readKeyPair(
      settings['service.auth.saml.encryption.key-file'],
      settings['service.auth.saml.encryption.certificate-file'],
    ),
  }
  const providers = all.map(({ policy, metadataUrl, metadataMaxAge, ...one }): SamlLogin => {
    const source = { idp: one.name, url: metadataUrl, maxAge: metadataMaxAge }
    const metadata = new MetadataSource(source, machine.system, machine.log)
    return { policy, provider: new SamlProvider({ ...one, ...shared }, metadata, verifier, machine.system) }
  })
  const whitelist = settings['service.auth.saml.redirect-domain-whitelist.<n>']
  const isLegacy = settings['service.auth.saml'] === 'on'
  const fallback = isLegacy ? LEGACY_NAME : settings['service.auth.saml.default-idp']
  return {
    providers,
    choose: (idp, username) => chooseProvider(providers, fallback, idp, username),
    targets: { require: (text, name) => new RedirectTargets(new URL(base().href).host, whitelist).require(text, name) },
    successUrl: settings['service.auth.saml.redirect-success.url'],
    failureUrl: settings['service.auth.saml.redirect-failure.url'],
    close: () => verifier.close(),
  }
}

/** The settings have been checked: what a provider needs is there. */
function samlSettings(settings: Settings): SamlSettings[] {
  const acs = settings['service.auth.saml.assertion-consumer-service.url'] ?? ''
  switch (settings['service.auth.saml']) {
    case 'off':
      return []
    case 'on':
      return [legacySamlSettings(settings, acs)]
    case 'new':
      return settings['service.auth.saml.idps.<n>'].map(idp => ({
        name: idp,
        relyingPartyId: settings['service.auth.saml.idp.<idp>.relying-party-id'].get(idp) ?? '',
        acsUrl: withQuery(acs, { idp }),
        metadataUrl: settings['service.auth.saml.idp.<idp>.metadata.url'].get(idp) ?? '',
        metadataMaxAge: settings['service.auth.saml.idp.<idp>.metadata.max-age'].get(idp) ?? 0,
        method: settings['service.auth.saml.idp.<idp>.redirect-method'].get(idp) ?? 'get',
        allowsUnsolicited: settings['service.auth.saml.idp.<idp>.allow-unsolicited'].get(idp) ?? false,
        policy: {
          name: idp,
          provisions: settings['service.auth.saml.idp.<idp>.user-auto-provisioning'].get(idp) ?? false,
          domains: settings['service.auth.saml.idp.<idp>.domains.<n>'].get(idp) ?? [],
          maxAge: undefined,
        },
      }))
  }
}

/** One provider without a name, on the same engine (D8.8). */
const legacySamlSettings = (settings: Settings, acsUrl: string): SamlSettings => ({
  name: LEGACY_NAME,
  relyingPartyId: settings['service.auth.saml.relying-party-id'] ?? '',
  acsUrl,
  metadataUrl: settings['service.auth.saml.idp-metadata.url'] ?? '',
  metadataMaxAge: settings['service.auth.saml.idp-metadata.max-age'],
  method: settings['service.auth.saml.redirect-method'],
  allowsUnsolicited: false,
  policy: {
    name: LEGACY_NAME,
    provisions: settings['service.auth.saml.user-auto-provisioning'],
    domains: [],
    maxAge: settings['service.auth.saml.max-age'],
  },
})

/** By name, else by the domain of the user name, else the default (D8.1). */
function chooseProvider(
  providers: readonly SamlLogin[],
  fallback: string | undefined,
  idp: string | undefined,
  username: string | undefined,
): SamlLogin {
  const domain = username?.split('@').at(-1)?.toLowerCase()
  const byDomain = providers.find(({ policy }) => domain !== undefined && policy.domains?.includes(asciiDomain(domain)))
  const chosen =
    idp === undefined
      ? (byDomain ?? providers.find(({ policy }) => policy.name === fallback))
      : providers.find(({ policy }) => policy.name === idp)
  if (chosen) return chosen
  const wanted = idp === undefined ? 'The request names no identity provider' : `There is no identity provider "${idp}"`
  throw new InvalidInput('unknown-idp', `${wanted}; there is ${providers.map(({ policy }) => policy.name).join(', ')}.`)
}

/** @throws {StartupError} when the files cannot be read or do not belong together */
function readKeyPair(keyFile: string | undefined, certificateFile: string | undefined): KeyPair | undefined {
  if (keyFile === undefined || certificateFile === undefined) return undefined
  try {
    const pair = { key: readFileSync(keyFile, 'utf8'), certificate: readFileSync(certificateFile, 'utf8') }
    if (new X509Certificate(pair.certificate).checkPrivateKey(createPrivateKey(pair.key))) return pair
  } catch (error) {
    throw new StartupError(`${keyFile}, ${certificateFile}: ${(error as Error).message}`, { cause: error })
  }
  throw new StartupError(`The key in ${keyFile} does not belong to the certificate in ${certificateFile}.`)
}
