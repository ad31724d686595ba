import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Audit } from '../accounts/audit.ts'
import type { Sessions } from '../accounts/sessions.ts'
import { StartupError } from '../base/errors.ts'
import type { System } from '../base/system.ts'
import type { Milliseconds, Seconds } from '../base/units.ts'
import type { Settings } from '../config/settings.ts'
import type { Changes } from '../content/changes.ts'
import { Provisioning } from '../content/provisioning.ts'
import type { BaseAddress } from '../http/base-address.ts'
import { CAS_PATH } from '../http/routes/cas.ts'
import type { Sso } from '../http/services.ts'
import type { Machine } from './machine.ts'
import { casRules, samlRules } from './mapping.ts'
import { createOidcProviders } from './oidc.ts'
import { shareMetadata } from './team-services.ts'
import { AccountMatcher } from '../sso/account-matcher.ts'
import { attributesUsed } from '../sso/attributes.ts'
import { CasProvider } from '../sso/cas/provider.ts'
import { CasSignOn, type CasSignOnOptions } from '../sso/cas/sign-on.ts'
import { MetadataSource } from '../sso/metadata-source.ts'
import { MetadataCopies } from '../sso/metadata-copies.ts'
import { SsoFailures } from '../sso/failures.ts'
import { LoginFlows } from '../sso/login-flows.ts'
import type { ProviderFace, ProviderPolicy } from '../sso/identity-provider.ts'
import { RedirectTargets } from '../sso/redirect-targets.ts'
import { type IdpMetadata, type KeyPair, requestScheme, SamlProvider, Verifier } from '../sso/saml/provider.ts'
import { type SamlLogin, SamlSignOn } from '../sso/saml/sign-on.ts'
import type { OidcServer } from '../sso/oidc/provider.ts'
import { OidcSignOn } from '../sso/oidc/sign-on.ts'
import { LatestSignOns, SignOn } from '../sso/sign-on.ts'
import { SignOnPreview } from '../sso/sign-on-preview.ts'
import { withQuery } from '../sso/with-query.ts'
import type { Database } from '../stores/database.ts'
import type { EphemeralStore } from '../stores/ephemeral-store.ts'
import type { ThreadTeam } from '../threads/team.ts'

interface Dependencies {
  readonly database: Database
  readonly changes: Changes
  readonly ephemeral: EphemeralStore
  readonly audit: Audit
  readonly sessions: Sessions
  /** Known only after the server has started to listen. */
  readonly base: () => BaseAddress
  readonly team: ThreadTeam | undefined
}

/** Part of `assembly/server.ts`, to keep that short: sign-on through identity providers. */
export function createSso(settings: Settings, machine: Pick<Machine, 'system' | 'log'>, deps: Dependencies): Sso {
  const { database, changes, ephemeral, audit, sessions, base, team } = deps
  const { system } = machine
  const cas = createCas(settings, system, base)
  const saml = createSamlProviders(settings, machine, new MetadataCopies(database), team)
  const oidc = createOidcProviders(settings, machine, base, new MetadataCopies<OidcServer>(database), team)
  const logins = [...(cas ? [cas] : []), ...(saml?.providers ?? []), ...oidc]
  const provisioning = new Provisioning(changes)
  const flows = new LoginFlows(ephemeral, system)
  const failures = new SsoFailures(machine, team && (() => team.collect('sso-failures')))
  team?.answer('sso-failures', () => failures.ofThread())
  const accounts = new AccountMatcher(
    { database, provisioning },
    logins.map(({ policy }) => policy),
  )
  const latest = new LatestSignOns(system, team && (() => team.collect('latest-sign-ons')))
  team?.answer('latest-sign-ons', () => latest.ofThread())
  const signOn = new SignOn({ flows, accounts, sessions, failures, audit, latest })
  const isLegacy = settings['service.auth.saml'] === 'on'
  return {
    failures,
    preview: new SignOnPreview(accounts, latest, logins),
    landsOnPage: settings['service.auth.sso.landing'] === 'page',
    cas: cas && new CasSignOn({ signOn, flows }, cas),
    oidc:
      oidc.length === 0
        ? undefined
        : new OidcSignOn(
            { signOn, flows, system },
            {
              providers: oidc,
              defaultProvider: settings['service.auth.oidc.default-idp'],
              targets: targetsOf(base, settings['service.auth.oidc.redirect-domain-whitelist.<n>']),
              successUrl: settings['service.auth.oidc.redirect-success.url'],
              failureUrl: settings['service.auth.oidc.redirect-failure.url'],
            },
          ),
    saml:
      saml &&
      new SamlSignOn(
        { signOn, flows, close: saml.close },
        {
          providers: saml.providers,
          defaultProvider: isLegacy ? LEGACY_NAME : settings['service.auth.saml.default-idp'],
          targets: targetsOf(base, settings['service.auth.saml.redirect-domain-whitelist.<n>']),
          successUrl: settings['service.auth.saml.redirect-success.url'],
          failureUrl: settings['service.auth.saml.redirect-failure.url'],
        },
      ),
  }
}

/** The port of the base address can be known late. */
const targetsOf = (base: () => BaseAddress, whitelist: readonly string[]): Pick<RedirectTargets, 'require'> => ({
  require: (text, name) => new RedirectTargets(new URL(base().href).host, whitelist).require(text, name),
})

/** A reply is parsed on the event loop. Where attributes are used, it has room for thousands of groups. */
const MAX_REPLY = 65_536
const MAX_REPLY_WITH_ATTRIBUTES = 524_288

/** `undefined` while CAS is off. */
export function createCas(settings: Settings, system: System, base: () => BaseAddress): CasSignOnOptions | undefined {
  const serverUrl = settings['service.auth.cas.server.url']
  // The settings have been checked: with the switch on, the address is set.
  if (!settings['service.auth.cas'] || serverUrl === undefined) return undefined
  const name = 'cas'
  const rules = casRules(settings)
  const options = {
    name,
    version: settings['service.auth.cas.version'],
    serverUrl,
    loginUrl: settings['service.auth.cas.server.url.login'],
    serviceUrl: () => base().at(CAS_PATH),
    verifyTls: !settings['service.https.disable-verification'],
    clockSkew: settings['service.auth.saml.clock-skew'] * 1000,
    maxBytes: attributesUsed(rules).length > 0 ? MAX_REPLY_WITH_ATTRIBUTES : MAX_REPLY,
  }
  return {
    provider: new CasProvider(options, system),
    policy: {
      name,
      provisions: settings['service.auth.cas.user-auto-provisioning'],
      domains: undefined,
      maxAge: settings['service.auth.cas.max-age'],
      rules,
    },
    face: {
      label: settings['service.auth.cas.label'] ?? 'CAS',
      labels: settings['service.auth.cas.label.<language>'],
      logoutUrl: settings['service.auth.cas.server.url.logout'] ?? `${serverUrl}logout`,
    },
    successUrl: settings['service.auth.cas.redirect-success.url'],
    failureUrl: settings['service.auth.cas.redirect-failure.url'],
  }
}

/** The name in logs of the single provider from the deprecated settings. */
const LEGACY_NAME = 'saml'

/** The settings of one SAML provider, from the new settings or the deprecated ones. */
interface SamlSettings {
  readonly name: string
  readonly relyingPartyId: string
  readonly acsUrl: string
  readonly metadataUrl: string
  readonly metadataMaxAge: Seconds
  readonly method: 'get' | 'post'
  readonly allowsUnsolicited: boolean
  readonly policy: ProviderPolicy
  readonly face: ProviderFace
}

/** The SAML providers and the threads that check their responses. */
export interface SamlProviders {
  readonly providers: readonly SamlLogin[]
  readonly close: () => Promise<void>
}

/** `undefined` while SAML is off. @throws {StartupError} when a key file is unusable */
export function createSamlProviders(
  settings: Settings,
  machine: Pick<Machine, 'system' | 'log'>,
  copies?: MetadataCopies<IdpMetadata>,
  team?: ThreadTeam,
): SamlProviders | undefined {
  const all = samlSettings(settings)
  if (all.length === 0) return undefined
  const verifier = new Verifier()
  const shared = {
    clockSkew: settings['service.auth.saml.clock-skew'],
    signing: readKeyPair(
      settings['service.auth.saml.signing.key-file'],
      settings['service.auth.saml.signing.certificate-file'],
      requestScheme,
    ),
    encryption: readKeyPair(
      settings['service.auth.saml.encryption.key-file'],
      settings['service.auth.saml.encryption.certificate-file'],
    ),
  }
  const providers = all.map(({ policy, face, metadataUrl, metadataMaxAge, ...one }): SamlLogin => {
    const source = { idp: one.name, url: metadataUrl, maxAge: metadataMaxAge }
    const parse = (text: string, now: Milliseconds): Promise<IdpMetadata> => verifier.parseMetadata(text, now)
    const metadata = shareMetadata(team, one.name, new MetadataSource(source, { ...machine, parse, copies }))
    return { policy, face, provider: new SamlProvider({ ...one, ...shared }, metadata, verifier, machine.system) }
  })
  return { providers, close: () => verifier.close() }
}

/** The settings have been checked: each provider has what it needs. */
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
          rules: samlRules(settings, idp),
        },
        face: {
          label: settings['service.auth.saml.idp.<idp>.label'].get(idp) ?? idp,
          labels: settings['service.auth.saml.idp.<idp>.label.<language>'].get(idp) ?? new Map(),
          logoutUrl: settings['service.auth.saml.idp.<idp>.logout-url'].get(idp),
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
  face: { label: 'SAML', labels: new Map(), logoutUrl: undefined },
})

/** @throws {StartupError} when the files cannot be read or do not belong together */
function readKeyPair(
  keyFile: string | undefined,
  certificateFile: string | undefined,
  check?: (key: string) => unknown,
): KeyPair | undefined {
  if (keyFile === undefined || certificateFile === undefined) return undefined
  try {
    const pair = { key: readFileSync(keyFile, 'utf8'), certificate: readFileSync(certificateFile, 'utf8') }
    check?.(pair.key)
    if (new X509Certificate(pair.certificate).checkPrivateKey(createPrivateKey(pair.key))) return pair
  } catch (error) {
    throw new StartupError(`${keyFile}, ${certificateFile}: ${(error as Error).message}`, { cause: error })
  }
  throw new StartupError(`The key in ${keyFile} does not belong to the certificate in ${certificateFile}.`)
}

/** When the certificates of this service expire. One that cannot be read is left out: it stops the start anyway. */
export function ownCertificates(
  settings: Settings,
): ReadonlyArray<{ readonly use: 'signing' | 'encryption'; readonly expires: Milliseconds }> {
  return (['signing', 'encryption'] as const).flatMap(use => {
    const file = settings[`service.auth.saml.${use}.certificate-file`]
    if (file === undefined) return []
    try {
      return [{ use, expires: Date.parse(new X509Certificate(readFileSync(file)).validTo) }]
    } catch {
      return []
    }
  })
}
