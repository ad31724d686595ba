import { StartupError } from '../../base/errors.ts'
import { createLog } from '../../base/log.ts'
import { realSystem } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'
import { type CheckResult, ok, problem, warning } from '../../core/check-result.ts'
import type { BaseAddress } from '../../http/base-address.ts'
import { checkClock, checkRules } from '../sso/checks.ts'
import { createSamlProviders, logoutUrlOf, ownCertificates } from './create-providers.ts'
import type { FederationOptions } from './federation.ts'
import { federationSettings, metadataCertificates } from './federation-settings.ts'
import { FederationReader, type IdpMetadata, queryAddress, type SamlProvider } from './provider.ts'
import type { SamlSettings } from './settings.ts'
import type { SamlLogin } from './sign-on.ts'

const DAY = 86_400_000
/** Days before a certificate expires at which the check warns, so that the provider can send the next one in time. */
const SOON = 30
/** Keys, providers and their metadata, as far as they can be examined without a sign-on. */
export const checkSaml = async (settings: SamlSettings, base: BaseAddress): Promise<readonly CheckResult[]> => [
  ...(await checkProviders(settings, base)),
  ...(await checkFederations(settings, base)),
]

async function checkProviders(settings: SamlSettings, base: BaseAddress): Promise<CheckResult[]> {
  const own = ownCertificates(settings).map(({ use, expires }) => checkExpiry(`SAML: own ${use} certificate`, expires))
  try {
    const saml = createSamlProviders(settings, { system: realSystem, log: createLog('silent') })
    const found = await Promise.all(saml?.providers.map(login => checkProvider(settings, login, base)) ?? [])
    await saml?.close()
    return [...own, ...found.flat()]
  } catch (error) {
    // A key that does not belong to its certificate, or that cannot sign requests, stops the start.
    if (!(error instanceof StartupError)) throw error
    return [...own, problem(`SAML: ${error.message}`)]
  }
}

function checkExpiry(title: string, expires: Milliseconds): CheckResult {
  const days = Math.floor((expires - realSystem.now()) / DAY)
  const text = `${title} ${days < 0 ? 'has expired' : `expires in ${days} days`}`
  return days < 0 ? problem(text) : days < SOON ? warning(text) : ok(text)
}

async function checkProvider(
  settings: SamlSettings,
  { provider, policy }: SamlLogin,
  base: BaseAddress,
): Promise<CheckResult[]> {
  const { name, acsUrl, metadata } = provider
  const title = `SAML ${name}`
  const found = [
    ok(`${title}: assertion consumer service ${acsUrl}`),
    ...checkAcs(title, acsUrl, base),
    ...checkRules(title, policy.rules),
    ...checkSigners(title, settings, name),
  ]
  await metadata.current().catch(() => undefined)
  const { url, metadata: known, problem: reason } = await metadata.status()
  if (!known) return [...found, problem(`${title}: metadata cannot be had: ${reason ?? 'they are no longer valid'}`)]
  found.push(ok(`${title}: metadata of ${known.entityId} from ${url}, ${known.keys.length} signing key(s)`))
  for (const { subject, expires } of known.certificates) {
    found.push(checkExpiry(`${title}: certificate "${subject}"`, expires))
  }
  const unused = known.unused ?? []
  found.push(...unused.map(reason => warning(`${title}: not used from the metadata: ${reason}`)))
  return [...found, ...checkLogout(title, provider, known), ...(await checkClock(title, url))]
}

/** Who signs the metadata, where the settings name it. @throws {StartupError} */
const checkSigners = (title: string, settings: SamlSettings, idp: string): CheckResult[] =>
  metadataCertificates(settings, idp).map(({ fingerprint256, validTo }) => {
    const text = `${title}: metadata are signed by the certificate ${fingerprint256}, until ${validTo}`
    // The key outlives its certificate, which holds nothing but the key.
    return Date.parse(validTo) < realSystem.now() ? warning(text) : ok(text)
  })

/** Single logout needs an address at the provider, for requests as well as for responses. */
function checkLogout(
  title: string,
  { logout, logoutUrl }: SamlProvider,
  { logout: known }: IdpMetadata,
): CheckResult[] {
  if (logout === 'off') return []
  const ours = ok(`${title}: single logout (${logout}) at ${logoutUrl}`)
  if (known?.redirect || known?.post) return [ours]
  return [ours, warning(`${title}: the metadata of the provider have no address for single logout by redirect or POST`)]
}

/** Answers that go elsewhere never arrive; the provider compares the address to the letter, and so do we. */
function checkAcs(title: string, acsUrl: string, base: BaseAddress): CheckResult[] {
  const address = acsUrl.split('?')[0]
  const own = [base.at('auth/saml'), `${base.origin}/store/auth/saml`]
  if (address !== undefined && own.includes(address)) return []
  return [problem(`${title}: answers go to ${acsUrl}, but this service takes them at ${own.join(' or ')}`)]
}

const FEDERATION_TIMEOUT = 300_000
const MAX_AGGREGATE_BYTES = 268_435_456
/** An id that no provider has: a query service must answer that it does not know it. */
const UNKNOWN_ID = 'urn:stowage:nobody'

/** Loads the metadata of each federation once, as the service does, and checks the certificates that sign them. */
async function checkFederations(settings: SamlSettings, base: BaseAddress): Promise<CheckResult[]> {
  const idps = settings['service.auth.saml.idps.<n>']
  const found = await Promise.all(idps.map(idp => checkFederation(settings, idp, base)))
  return found.flat()
}

async function checkFederation(settings: SamlSettings, idp: string, base: BaseAddress): Promise<CheckResult[]> {
  const title = `SAML federation ${idp}`
  try {
    const options = federationSettings(settings, idp)
    if (!options) return []
    const certificates = checkSigners(title, settings, idp)
    const logout = settings['service.auth.saml.idp.<idp>.single-logout'].get(idp) ?? 'off'
    const acs = settings['service.auth.saml.assertion-consumer-service.url'] ?? ''
    const logouts = logout === 'off' ? [] : [ok(`${title}: single logout (${logout}) at ${logoutUrlOf(acs, idp)}`)]
    const page = `${base.at('auth/saml/discovery')}?${new URLSearchParams({ idp }).toString()}`
    const discovery = settings['service.auth.saml.idp.<idp>.discovery-url'].get(idp) ?? page
    return [
      ...certificates,
      ok(`${title}: users choose at ${discovery}`),
      ...logouts,
      await loadFederation(title, options),
    ]
  } catch (error) {
    // The start of the service is refused for the same reason.
    if (error instanceof StartupError) return [problem(`${title}: ${error.message}`)]
    throw error
  }
}

async function loadFederation(title: string, { kind, url, keys }: FederationOptions): Promise<CheckResult> {
  const reader = new FederationReader()
  try {
    const address = kind === 'aggregate' ? url : queryAddress({ kind, url }, UNKNOWN_ID)
    const limits = { timeout: FEDERATION_TIMEOUT, maxBytes: MAX_AGGREGATE_BYTES }
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
