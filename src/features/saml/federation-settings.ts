import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { StartupError } from '../../base/errors.ts'
import type { BaseAddress } from '../../http/base-address.ts'
import type { Metadata } from '../sso/metadata-source.ts'
import { refused } from '../sso/refusal.ts'
import {
  type FederationLogin,
  FederationReader,
  FederationSource,
  type FederationStore,
  type IdpMetadata,
} from './provider.ts'
import type { Log } from '../../base/log.ts'
import type { System } from '../../base/system.ts'
import type { SamlSettings } from './settings.ts'
import type { Federation, FederationOptions } from './federation.ts'

/** The settings of a federation; `undefined` for a single identity provider. @throws {StartupError} for an unusable certificate */
export function federationSettings(settings: SamlSettings, idp: string): FederationOptions | undefined {
  const kind = settings['service.auth.saml.idp.<idp>.federation'].get(idp) ?? 'off'
  if (settings['service.auth.saml'] !== 'new' || kind === 'off') return undefined
  return {
    name: idp,
    kind,
    // The settings have been checked: a federation has what it needs.
    url: settings['service.auth.saml.idp.<idp>.metadata.url'].get(idp) ?? '',
    keys: metadataKeys(settings, idp),
    maxAge: settings['service.auth.saml.idp.<idp>.metadata.max-age'].get(idp) ?? 0,
    requiredCategories: settings['service.auth.saml.idp.<idp>.required-categories.<n>'].get(idp) ?? [],
  }
}

/** Keys that sign the metadata of a provider or a federation; none: they need not be signed. @throws {StartupError} */
export const metadataKeys = (settings: SamlSettings, idp: string): string[] =>
  metadataCertificates(settings, idp).map(({ publicKey }) =>
    publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  )

/** @throws {StartupError} for a file without a usable certificate */
export function metadataCertificates(settings: SamlSettings, idp: string): X509Certificate[] {
  const file = settings['service.auth.saml.idp.<idp>.metadata.certificate-file'].get(idp)
  return file === undefined ? [] : readCertificates(file)
}

/** All certificates of a PEM file. @throws {StartupError} */
function readCertificates(file: string): X509Certificate[] {
  try {
    const blocks = readFileSync(file, 'utf8').match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
    if (blocks.length > 0) return blocks.map(block => new X509Certificate(block))
  } catch (error) {
    throw new StartupError(`${file}: ${(error as Error).message}`, { cause: error })
  }
  throw new StartupError(`${file} holds no certificate in PEM.`)
}

export const federationLogin = (
  settings: SamlSettings,
  idp: string,
  base: () => BaseAddress,
): Omit<FederationLogin, 'members'> => ({
  discoveryUrl: settings['service.auth.saml.idp.<idp>.discovery-url'].get(idp),
  returnUrl: () => base().at('auth/saml'),
})

/** The federation, which begins to load. */
export function createFederation(
  options: FederationOptions,
  machine: { readonly system: System; readonly log: Log },
  store: FederationStore,
): Federation {
  const source = new FederationSource(options, { ...machine, store, reader: new FederationReader() })
  void source.refresh()
  return source
}

/** Takes the place of the metadata of one provider in a federation. */
export const metadataOfFederation = (url: string, members: Federation): Metadata<IdpMetadata> => ({
  current: () => Promise.reject(refused('metadata', url, 'a federation')),
  reloadForUnknownKey: async () => false,
  status: async () => {
    const { loadedAt, problem } = await members.status()
    return { url, loadedAt, metadata: undefined, problem }
  },
  // Once a minute, like the warnings of other providers.
  warnOfExpiry: () => void members.refresh(),
})
