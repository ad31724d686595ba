import { createHash } from 'node:crypto'
import { federationSettings, readCertificates } from './federations.ts'
import { StartupError } from '../base/errors.ts'
import { realSystem } from '../base/system.ts'
import type { Settings } from '../config/settings.ts'
import { FederationReader, type FederationOptions } from '../sso/saml/provider.ts'
import { type Diagnosis, ok, problem, warning } from './diagnosis.ts'

const DAY = 86_400_000
const TIMEOUT = 300_000
const MAX_BYTES = 268_435_456
/** An id that no provider has: a query service must answer that it does not know it. */
const NOBODY = 'urn:stowage:nobody'

/** Loads the metadata of each federation once, as the service does, and checks the certificates that sign them. */
export async function examineFederations(settings: Settings): Promise<Diagnosis[]> {
  if (settings['service.auth.saml'] !== 'new') return []
  const found = await Promise.all(settings['service.auth.saml.idps.<n>'].map(idp => examine(settings, idp)))
  return found.flat()
}

async function examine(settings: Settings, idp: string): Promise<Diagnosis[]> {
  const title = `SAML federation ${idp}`
  try {
    const options = federationSettings(settings, idp)
    if (!options) return []
    const file = settings['service.auth.saml.idp.<idp>.metadata.certificate-file'].get(idp) ?? ''
    const certificates = readCertificates(file).map(({ fingerprint256, validTo }) => {
      const text = `${title}: metadata are signed by the certificate ${fingerprint256}, until ${validTo}`
      // Federations keep a key longer than its certificate, which holds nothing but the key.
      return Date.parse(validTo) < realSystem.now() ? warning(text) : ok(text)
    })
    const isScoped = settings['service.auth.saml.idp.<idp>.scope-check'].get(idp) ?? true
    const scopes = isScoped ? [] : [warning(`${title}: scopes are not checked`)]
    return [...certificates, ...scopes, await load(title, options)]
  } catch (error) {
    // The start of the service is refused for the same reason.
    if (error instanceof StartupError) return [problem(`${title}: ${error.message}`)]
    throw error
  }
}

async function load(title: string, { kind, url, keys }: FederationOptions): Promise<Diagnosis> {
  const reader = new FederationReader()
  try {
    const id = kind === 'mdq' ? NOBODY : `{sha1}${createHash('sha1').update(NOBODY).digest('hex')}`
    const address =
      kind === 'aggregate' ? url : `${url}${url.endsWith('/') ? '' : '/'}entities/${encodeURIComponent(id)}`
    const limits = { timeout: TIMEOUT, maxBytes: MAX_BYTES }
    const outcome = await reader.read({ url: address, keys, now: realSystem.now(), ...limits })
    if ('refused' in outcome) {
      if (kind !== 'aggregate' && outcome.status === 404) return ok(`${title}: ${url} answers queries`)
      return problem(`${title}: metadata cannot be used: ${outcome.refused}`)
    }
    const { validUntil, unusable } = outcome.summary
    const days = Math.floor((validUntil - realSystem.now()) / DAY)
    return ok(`${title}: ${outcome.providers} providers, ${unusable} unusable, valid for ${days} days, from ${url}`)
  } finally {
    await reader.close()
  }
}
