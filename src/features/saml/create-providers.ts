import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { StartupError } from '../../base/errors.ts'
import type { Milliseconds, Seconds } from '../../base/units.ts'
import type { Log } from '../../base/log.ts'
import type { System } from '../../base/system.ts'
import { MetadataCopies, MetadataSource } from '../sso/metadata-source.ts'
import type { ProviderDisplay, ProviderPolicy } from '../sso/identity-provider.ts'
import {
  FederationStore,
  type IdpMetadata,
  requestScheme,
  SamlProvider,
  type SamlProviderOptions,
  Verifier,
} from './provider.ts'
import type { SamlLogin } from './sign-on.ts'
import { withQuery } from '../../base/with-query.ts'
import type { BaseAddress } from '../../http/base-address.ts'
import type { Database } from '../../stores/database.ts'
import {
  createFederation,
  federationLogin,
  federationSettings,
  metadataKeys,
  metadataOfFederation,
} from './federation-settings.ts'
import { samlRules } from './mapping.ts'
import { LEGACY_NAME, type SamlSettings } from './settings.ts'
import type { KeyPair } from './outgoing.ts'

/** The settings of one SAML provider, from the new settings or the deprecated ones. */
interface ProviderSettings extends Omit<SamlProviderOptions, 'clockSkew' | 'encryption' | 'federation' | 'signing'> {
  readonly metadataUrl: string
  readonly metadataMaxAge: Seconds
  readonly policy: ProviderPolicy
  readonly display: ProviderDisplay
}

/** The SAML providers and the threads that check their responses. */
interface SamlProviders {
  readonly providers: readonly SamlLogin[]
  readonly defaultProvider: string | undefined
  readonly close: () => Promise<void>
}

/** The clock and the log. */
export interface Machine {
  readonly system: System
  readonly log: Log
}

/** The services that the providers of a running service need; `doctor` has none of them. */
interface Dependencies {
  readonly database: Database
  readonly base: () => BaseAddress
  /** Not closed with the providers. */
  readonly verifier: Verifier
}

/** The providers that are set. @throws {StartupError} when a key file is unusable */
export function createSamlProviders(settings: SamlSettings, machine: Machine, deps?: Dependencies): SamlProviders {
  const all = samlSettings(settings)
  const verifier = deps?.verifier ?? new Verifier()
  const copies = deps && new MetadataCopies<IdpMetadata>(deps.database)
  const clockSkew = settings['service.auth.saml.clock-skew']
  const signing = signingKey(settings)
  const encryption = encryptionKeys(settings)
  const providers = all.flatMap(({ policy, display, metadataUrl, metadataMaxAge, ...one }): SamlLogin[] => {
    const options = { ...one, clockSkew, encryption, signing }
    const federated = federationSettings(settings, one.name)
    // `doctor` examines federations by itself.
    if (federated && !deps) return []
    if (federated && deps) {
      const members = createFederation(federated, machine, new FederationStore(deps.database))
      const federation = { ...federationLogin(settings, one.name, deps.base), members }
      const metadata = metadataOfFederation(metadataUrl, members)
      const provider = new SamlProvider({ ...options, federation }, metadata, verifier, machine.system)
      return [{ policy, display, provider }]
    }
    const signedBy = metadataKeys(settings, one.name)
    const source = { idp: one.name, url: metadataUrl, maxAge: metadataMaxAge, signedBy }
    const parse = (text: string, now: Milliseconds): Promise<IdpMetadata> => verifier.parseMetadata(text, now, signedBy)
    const metadata = new MetadataSource(source, { ...machine, parse, copies })
    return [{ policy, display, provider: new SamlProvider(options, metadata, verifier, machine.system) }]
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

/** @throws {StartupError} for keys and certificates that a start would refuse */
export function requireSamlFiles(settings: SamlSettings): void {
  signingKey(settings)
  encryptionKeys(settings)
  for (const { name } of samlSettings(settings)) metadataKeys(settings, name)
}

/** Signs for all providers. @throws {StartupError} */
function signingKey(settings: SamlSettings): KeyPair | undefined {
  const [pair] = readKeyPairs(
    settings['service.auth.saml.signing.key-file'],
    settings['service.auth.saml.signing.certificate-file'],
  )
  if (pair) requireUsableKey(pair.key, settings['service.auth.saml.signing.key-file'])
  return pair
}

/** The certificates in use: two while one replaces the other. @throws {StartupError} */
const encryptionKeys = (settings: SamlSettings): readonly KeyPair[] =>
  readKeyPairs(
    settings['service.auth.saml.encryption.key-file'],
    settings['service.auth.saml.encryption.certificate-file'],
  )

/** The settings have been checked: each provider has what it needs. */
function samlSettings(settings: SamlSettings): ProviderSettings[] {
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
        authnContext: settings['service.auth.saml.idp.<idp>.authn-context.<n>'].get(idp) ?? [],
        logout: settings['service.auth.saml.idp.<idp>.single-logout'].get(idp) ?? 'off',
        logoutUrl: logoutUrlOf(acs, idp),
        nameAttribute: settings['service.auth.saml.idp.<idp>.user-name-attribute'].get(idp),
        policy: {
          name: idp,
          provisions: settings['service.auth.saml.idp.<idp>.user-auto-provisioning'].get(idp) ?? false,
          domains: settings['service.auth.saml.idp.<idp>.domains.<n>'].get(idp) ?? [],
          maxAge: undefined,
          rules: samlRules(settings, idp),
          factorContexts: settings['service.auth.saml.idp.<idp>.second-factor-acr.<n>'].get(idp),
        },
        display: {
          label: settings['service.auth.saml.idp.<idp>.label'].get(idp) ?? idp,
          logoutUrl: settings['service.auth.saml.idp.<idp>.logout-url'].get(idp),
        },
      }))
  }
}

/** Below the assertion consumer service. The name is in the path, because some providers append a query of their own. */
export function logoutUrlOf(acs: string, idp: string): string {
  const url = new URL(acs)
  return `${url.origin}${url.pathname}/logout/${idp}`
}

/** One provider without a name, on the same engine (D8.8). */
const legacySamlSettings = (settings: SamlSettings, acsUrl: string): ProviderSettings => ({
  name: LEGACY_NAME,
  relyingPartyId: settings['service.auth.saml.relying-party-id'] ?? '',
  acsUrl,
  metadataUrl: settings['service.auth.saml.idp-metadata.url'] ?? '',
  metadataMaxAge: settings['service.auth.saml.idp-metadata.max-age'],
  method: settings['service.auth.saml.redirect-method'],
  allowsUnsolicited: false,
  authnContext: [],
  logout: 'off',
  logoutUrl: '',
  policy: {
    name: LEGACY_NAME,
    provisions: settings['service.auth.saml.user-auto-provisioning'],
    domains: [],
    maxAge: settings['service.auth.saml.max-age'],
  },
  display: { label: 'SAML', logoutUrl: undefined },
})

/** Each key with its certificate, in the order of the files. @throws {StartupError} when they cannot be read or do not belong together */
function readKeyPairs(keyFile: string | undefined, certificateFile: string | undefined): readonly KeyPair[] {
  if (keyFile === undefined || certificateFile === undefined) return []
  try {
    const keys = blocksIn(keyFile, 'PRIVATE KEY')
    const certificates = blocksIn(certificateFile, 'CERTIFICATE')
    const pairs = keys.map((key, index) => ({ key, certificate: certificates[index] ?? '' }))
    const areRight = pairs.every(({ key, certificate }) =>
      new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key)),
    )
    if (keys.length === certificates.length && areRight) return pairs
  } catch (error) {
    throw new StartupError(`${keyFile}, ${certificateFile}: ${(error as Error).message}`, { cause: error })
  }
  throw new StartupError(`The key in ${keyFile} does not belong to the certificate in ${certificateFile}.`)
}

/** The blocks of a PEM file; the whole file if it contains none, so that the parser of the block reports the problem. */
function blocksIn(file: string, label: string): readonly string[] {
  const text = readFileSync(file, 'utf8')
  return text.match(new RegExp(`-----BEGIN [A-Z ]*${label}-----.*?-----END [A-Z ]*${label}-----`, 'gs')) ?? [text]
}

/** @throws {StartupError} for a key that can sign no requests */
function requireUsableKey(key: string, file: string | undefined): void {
  try {
    requestScheme(key)
  } catch (error) {
    throw new StartupError(`${file}: ${(error as Error).message}`, { cause: error })
  }
}

/** When the certificates of this service expire. An unreadable certificate is left out: it stops the start anyway. */
export function ownCertificates(
  settings: SamlSettings,
): ReadonlyArray<{ readonly use: 'signing' | 'encryption'; readonly expires: Milliseconds }> {
  const files: ReadonlyArray<readonly [use: 'signing' | 'encryption', file: string | undefined]> = [
    ['signing', settings['service.auth.saml.signing.certificate-file']],
    ['encryption', settings['service.auth.saml.encryption.certificate-file']],
  ]
  return files.flatMap(([use, file]) => {
    if (file === undefined) return []
    try {
      return blocksIn(file, 'CERTIFICATE').map(text => ({
        use,
        expires: Date.parse(new X509Certificate(text).validTo),
      }))
    } catch {
      return []
    }
  })
}
