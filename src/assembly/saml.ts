import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { StartupError } from '../base/errors.ts'
import type { Milliseconds, Seconds } from '../base/units.ts'
import type { Settings } from '../config/settings.ts'
import { MetadataCopies, MetadataSource } from '../sso/metadata-source.ts'
import type { ProviderDisplay, ProviderPolicy } from '../sso/identity-provider.ts'
import {
  FederationStore,
  type IdpMetadata,
  requestScheme,
  SamlProvider,
  type SamlProviderOptions,
  Verifier,
} from '../sso/saml/provider.ts'
import type { SamlLogin } from '../sso/saml/sign-on.ts'
import { withQuery } from '../sso/redirect-targets.ts'
import type { BaseAddress } from '../http/base-address.ts'
import type { Database } from '../stores/database.ts'
import {
  createFederation,
  federationLogin,
  federationSettings,
  metadataKeys,
  metadataOfFederation,
} from './federations.ts'
import type { RuntimeEnvironment } from './machine.ts'
import { samlRules } from './mapping.ts'
import type { KeyPair } from '../sso/saml/outgoing.ts'

/** The settings of one SAML provider, from the new settings or the deprecated ones. */
interface SamlSettings
  extends Omit<SamlProviderOptions, 'clockSkew' | 'encryption' | 'federation' | 'signing' | 'signsRequests'> {
  readonly metadataUrl: string
  readonly metadataMaxAge: Seconds
  /** `undefined`: with a signing key. */
  readonly signsRequests: boolean | undefined
  /** Signs for this provider only. */
  readonly ownSigning: KeyPair | undefined
  readonly policy: ProviderPolicy
  readonly face: ProviderDisplay
}

/** The name in logs of the single provider from the deprecated settings. */
const LEGACY_NAME = 'saml'

/** The SAML providers and the threads that check their responses. */
interface SamlProviders {
  readonly providers: readonly SamlLogin[]
  readonly defaultProvider: string | undefined
  readonly close: () => Promise<void>
}

/** What the providers of a running service need; `doctor` has none of it. */
interface Dependencies {
  readonly database: Database
  readonly base: () => BaseAddress
  /** Not closed with the providers. */
  readonly verifier: Verifier
}

/** `undefined` while SAML is off. @throws {StartupError} when a key file is unusable */
export function createSamlProviders(
  settings: Settings,
  machine: Pick<RuntimeEnvironment, 'system' | 'log'>,
  deps?: Dependencies,
): SamlProviders | undefined {
  const all = samlSettings(settings)
  if (all.length === 0) return undefined
  const verifier = deps?.verifier ?? new Verifier()
  const copies = deps && new MetadataCopies<IdpMetadata>(deps.database)
  const clockSkew = settings['service.auth.saml.clock-skew']
  const signing = readKeyPair(
    settings['service.auth.saml.signing.key-file'],
    settings['service.auth.saml.signing.certificate-file'],
    requestScheme,
  )
  const encryption = encryptionKeys(settings)
  const providers = all.flatMap(({ policy, face, metadataUrl, metadataMaxAge, ownSigning, ...one }): SamlLogin[] => {
    const key = ownSigning ?? signing
    const signs = { signing: key, signsRequests: key !== undefined && (one.signsRequests ?? true) }
    const options = { ...one, clockSkew, encryption, ...signs }
    const federated = federationSettings(settings, one.name)
    // `doctor` examines federations by itself.
    if (federated && !deps) return []
    if (federated && deps) {
      const members = createFederation(federated, machine, new FederationStore(deps.database))
      const federation = { ...federationLogin(settings, one.name, deps.base), members }
      const metadata = metadataOfFederation(metadataUrl, members)
      const provider = new SamlProvider({ ...options, federation }, metadata, verifier, machine.system)
      return [{ policy, face, provider }]
    }
    const signedBy = metadataKeys(settings, one.name)
    const source = { idp: one.name, url: metadataUrl, maxAge: metadataMaxAge, signedBy }
    const parse = (text: string, now: Milliseconds): Promise<IdpMetadata> => verifier.parseMetadata(text, now, signedBy)
    const metadata = new MetadataSource(source, { ...machine, parse, copies })
    return [{ policy, face, provider: new SamlProvider(options, metadata, verifier, machine.system) }]
  })
  const isLegacy = settings['service.auth.saml'] === 'on'
  return {
    providers,
    defaultProvider: isLegacy ? LEGACY_NAME : settings['service.auth.saml.default-idp'],
    close: async () => {
      for (const { provider } of providers) await provider.federation?.members.close()
      if (!deps) await verifier.close()
    },
  }
}

/** The one in use, and the one that replaces it or is replaced by it. @throws {StartupError} */
const encryptionKeys = (settings: Settings): KeyPair[] =>
  [
    readKeyPair(
      settings['service.auth.saml.encryption.key-file'],
      settings['service.auth.saml.encryption.certificate-file'],
    ),
    readKeyPair(
      settings['service.auth.saml.encryption.second.key-file'],
      settings['service.auth.saml.encryption.second.certificate-file'],
    ),
  ].filter(pair => pair !== undefined)

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
        takesDeepLinks: settings['service.auth.saml.idp.<idp>.deep-links'].get(idp) ?? false,
        ...authnSettings(settings, idp),
        logout: settings['service.auth.saml.idp.<idp>.single-logout'].get(idp) ?? 'off',
        logoutUrl: logoutUrlOf(acs, idp),
        signsRequests: settings['service.auth.saml.idp.<idp>.sign-requests'].get(idp),
        ownSigning: readKeyPair(
          settings['service.auth.saml.idp.<idp>.signing.key-file'].get(idp),
          settings['service.auth.saml.idp.<idp>.signing.certificate-file'].get(idp),
          requestScheme,
        ),
        nameAttribute: settings['service.auth.saml.idp.<idp>.user-name-attribute'].get(idp),
        policy: {
          name: idp,
          provisions: settings['service.auth.saml.idp.<idp>.user-auto-provisioning'].get(idp) ?? false,
          domains: settings['service.auth.saml.idp.<idp>.domains.<n>'].get(idp) ?? [],
          maxAge: undefined,
          rules: samlRules(settings, idp),
          factorContexts: settings['service.auth.saml.idp.<idp>.second-factor-acr.<n>'].get(idp),
        },
        face: {
          label: settings['service.auth.saml.idp.<idp>.label'].get(idp) ?? idp,
          labels: settings['service.auth.saml.idp.<idp>.label.<language>'].get(idp) ?? new Map(),
          logoutUrl: settings['service.auth.saml.idp.<idp>.logout-url'].get(idp),
        },
      }))
  }
}

/** How users are to authenticate at the provider. */
function authnSettings(
  settings: Settings,
  idp: string,
): Pick<SamlSettings, 'forcesAuthn' | 'authnContext' | 'acceptedAuthnContexts'> {
  const classes = settings['service.auth.saml.idp.<idp>.authn-context.<n>'].get(idp) ?? []
  const comparison = settings['service.auth.saml.idp.<idp>.authn-context-comparison'].get(idp) ?? 'exact'
  const accepted = settings['service.auth.saml.idp.<idp>.accepted-authn-context.<n>'].get(idp) ?? []
  return {
    forcesAuthn: settings['service.auth.saml.idp.<idp>.force-authn'].get(idp) ?? false,
    authnContext: classes.length === 0 ? undefined : { comparison, classes },
    acceptedAuthnContexts: accepted.length > 0 ? accepted : classes,
  }
}

/** Below the assertion consumer service. The name is in the path, because some providers append a query of their own. */
export function logoutUrlOf(acs: string, idp: string): string {
  const url = new URL(acs)
  return `${url.origin}${url.pathname}/logout/${idp}`
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
  takesDeepLinks: false,
  forcesAuthn: false,
  authnContext: undefined,
  acceptedAuthnContexts: [],
  logout: 'off',
  logoutUrl: '',
  signsRequests: undefined,
  ownSigning: undefined,
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
): ReadonlyArray<{ readonly use: string; readonly expires: Milliseconds }> {
  const ofProviders = [...settings['service.auth.saml.idp.<idp>.signing.certificate-file']]
  const files: ReadonlyArray<readonly [use: string, file: string | undefined]> = [
    ['signing', settings['service.auth.saml.signing.certificate-file']],
    ...ofProviders.map(([idp, file]) => [`signing (${idp})`, file] as const),
    ['encryption', settings['service.auth.saml.encryption.certificate-file']],
    ['second encryption', settings['service.auth.saml.encryption.second.certificate-file']],
  ]
  return files.flatMap(([use, file]) => {
    if (file === undefined) return []
    try {
      return [{ use, expires: Date.parse(new X509Certificate(readFileSync(file)).validTo) }]
    } catch {
      return []
    }
  })
}
