import { StartupError } from '../../base/errors.ts'
import { createLog } from '../../base/log.ts'
import { realSystem } from '../../base/system.ts'
import { isoTime } from '../../base/times.ts'
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
  const own = ownCertificates(settings).map(({ use, expires }) => checkOwn(use, daysUntil(expires)))
  try {
    const saml = createSamlProviders(settings, { system: realSystem, log: createLog('silent') })
    const found = await Promise.all(saml?.providers.map(login => checkProvider(settings, login, base)) ?? [])
    await saml?.close()
    return [...own, ...found.flat()]
  } catch (error) {
    // A key that does not belong to its certificate, or that cannot sign requests, stops the start.
    if (!(error instanceof StartupError)) throw error
    return [...own, problem('saml-unusable', 'SAML: {reason}', { reason: error.message })]
  }
}

const daysUntil = (time: Milliseconds): number => Math.floor((time - realSystem.now()) / DAY)

function checkOwn(use: 'signing' | 'encryption', days: number): CheckResult {
  const level = days < SOON ? warning : ok
  if (use === 'signing')
    return days < 0
      ? problem('signing-certificate-expired', 'SAML: own signing certificate has expired')
      : level(
          'signing-certificate',
          'SAML: own signing certificate expires in {days, plural, one {# day} other {# days}}',
          { days },
        )
  return days < 0
    ? problem('encryption-certificate-expired', 'SAML: own encryption certificate has expired')
    : level(
        'encryption-certificate',
        'SAML: own encryption certificate expires in {days, plural, one {# day} other {# days}}',
        { days },
      )
}

function checkCertificate(provider: string, subject: string, days: number): CheckResult {
  if (days < 0)
    return problem('saml-certificate-expired', '{provider}: certificate "{subject}" has expired', { provider, subject })
  return (days < SOON ? warning : ok)(
    'saml-certificate',
    '{provider}: certificate "{subject}" expires in {days, plural, one {# day} other {# days}}',
    { provider, subject, days },
  )
}

async function checkProvider(
  settings: SamlSettings,
  { provider, policy }: SamlLogin,
  base: BaseAddress,
): Promise<CheckResult[]> {
  const { name, acsUrl, metadata } = provider
  const title = `SAML ${name}`
  const found = [
    ok('saml-acs', '{provider}: assertion consumer service {url}', { provider: title, url: acsUrl }),
    ...checkAcs(title, acsUrl, base),
    ...checkRules(title, policy.rules),
    ...checkSigners(title, settings, name),
  ]
  await metadata.current().catch(() => undefined)
  const { url, metadata: known, problem: reason } = await metadata.status()
  if (!known)
    return [
      ...found,
      reason === undefined
        ? problem('saml-metadata-expired', '{provider}: the metadata are no longer valid', { provider: title })
        : problem('saml-metadata-unusable', '{provider}: metadata cannot be had: {reason}', {
            provider: title,
            reason,
          }),
    ]
  found.push(
    ok(
      'saml-metadata',
      '{provider}: metadata of {entity} from {url}, {keys, plural, one {# signing key} other {# signing keys}}',
      { provider: title, entity: known.entityId, url, keys: known.keys.length },
    ),
  )
  for (const { subject, expires } of known.certificates) {
    found.push(checkCertificate(title, subject, daysUntil(expires)))
  }
  for (const reason of known.unused ?? []) {
    found.push(
      warning('saml-metadata-unused', '{provider}: not used from the metadata: {reason}', { provider: title, reason }),
    )
  }
  return [...found, ...checkLogout(title, provider, known), ...(await checkClock(title, url))]
}

/** Who signs the metadata, where the settings name it. @throws {StartupError} */
const checkSigners = (provider: string, settings: SamlSettings, idp: string): CheckResult[] =>
  metadataCertificates(settings, idp).map(({ fingerprint256: fingerprint, validTo }) => {
    const until = Date.parse(validTo)
    // The key outlives its certificate, which holds nothing but the key.
    return (until < realSystem.now() ? warning : ok)(
      'saml-signer',
      '{provider}: metadata are signed by the certificate {fingerprint}, until {until, time}',
      { provider, fingerprint, until: isoTime(until) },
    )
  })

/** Single logout needs an address at the provider, for requests as well as for responses. */
function checkLogout(
  provider: string,
  { logout, logoutUrl }: SamlProvider,
  { logout: known }: IdpMetadata,
): CheckResult[] {
  if (logout === 'off') return []
  const ours = describeLogout(provider, logout, logoutUrl)
  if (known?.redirect || known?.post) return [ours]
  return [
    ours,
    warning(
      'saml-without-logout',
      '{provider}: the metadata of the provider have no address for single logout by redirect or POST',
      { provider },
    ),
  ]
}

const describeLogout = (provider: string, mode: string, url: string): CheckResult =>
  ok('saml-logout', '{provider}: single logout ({mode}) at {url}', { provider, mode, url })

/** Answers that go elsewhere never arrive; the provider compares the address to the letter, and so do we. */
function checkAcs(provider: string, url: string, base: BaseAddress): CheckResult[] {
  const address = url.split('?')[0]
  const [own, store] = [base.at('auth/saml'), `${base.origin}/store/auth/saml`]
  if (address === own || address === store) return []
  return [
    problem('saml-acs-elsewhere', '{provider}: answers go to {url}, but this service takes them at {own} or {store}', {
      provider,
      url,
      own,
      store,
    }),
  ]
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
  const title = `SAML ${idp}`
  try {
    const options = federationSettings(settings, idp)
    if (!options) return []
    const certificates = checkSigners(title, settings, idp)
    const logout = settings['service.auth.saml.idp.<idp>.single-logout'].get(idp) ?? 'off'
    const acs = settings['service.auth.saml.assertion-consumer-service.url'] ?? ''
    const logouts = logout === 'off' ? [] : [describeLogout(title, logout, logoutUrlOf(acs, idp))]
    const page = `${base.at('auth/saml/discovery')}?${new URLSearchParams({ idp }).toString()}`
    const discovery = settings['service.auth.saml.idp.<idp>.discovery-url'].get(idp) ?? page
    return [
      ...certificates,
      ok('federation-discovery', '{provider}: users choose at {url}', { provider: title, url: discovery }),
      ...logouts,
      await loadFederation(title, options),
    ]
  } catch (error) {
    // The start of the service is refused for the same reason.
    if (error instanceof StartupError)
      return [problem('federation-unusable', '{provider}: {reason}', { provider: title, reason: error.message })]
    throw error
  }
}

async function loadFederation(provider: string, { kind, url, keys }: FederationOptions): Promise<CheckResult> {
  const reader = new FederationReader()
  try {
    const address = kind === 'aggregate' ? url : queryAddress({ kind, url }, UNKNOWN_ID)
    const limits = { timeout: FEDERATION_TIMEOUT, maxBytes: MAX_AGGREGATE_BYTES }
    const outcome = await reader.read({ url: address, keys, now: realSystem.now(), ...limits })
    if ('refused' in outcome) {
      if (kind !== 'aggregate' && outcome.status === 404)
        return ok('federation-queries', '{provider}: {url} answers queries', { provider, url })
      return problem(
        'federation-metadata-unusable',
        '{provider}: the metadata of the federation cannot be used: {reason}',
        { provider, reason: outcome.refused },
      )
    }
    const { validUntil, unusable } = outcome.summary
    return ok(
      'federation-metadata',
      '{provider}: a federation of {providers, plural, one {# provider} other {# providers}}, {unusable} unusable, valid for {days, plural, one {# day} other {# days}}, from {url}',
      { provider, providers: outcome.providers, unusable, days: daysUntil(validUntil), url },
    )
  } finally {
    await reader.close()
  }
}
