import { federationSettings, metadataCertificates } from './federations.ts'
import { createOidcProviders } from './oidc.ts'
import { createCas } from './cas.ts'
import { createSamlProviders, logoutUrlOf, ownCertificates } from './saml.ts'
import { StartupError } from '../base/errors.ts'
import { createLog } from '../base/log.ts'
import { realSystem } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import type { Settings } from '../config/settings.ts'
import type { BaseAddress } from '../http/base-address.ts'
import { OIDC_CALLBACK_PATH } from '../http/routes/oidc.ts'
import { clockOffset } from '../sso/fetch.ts'
import type { CasSignOnOptions } from '../sso/cas/sign-on.ts'
import type { OidcProvider } from '../sso/oidc/provider.ts'
import type { OidcLogin } from '../sso/oidc/sign-on.ts'
import type { AttributeRules } from '../sso/attributes.ts'
import { SsoRefused } from '../sso/refusal.ts'
import { FederationReader, type IdpMetadata, queryAddress, type SamlProvider } from '../sso/saml/provider.ts'
import type { SamlLogin } from '../sso/saml/sign-on.ts'
import { type CheckResult, ok, problem, warning } from './check-result.ts'
import type { OidcServer } from '../sso/oidc/server.ts'
import type { FederationOptions } from '../sso/saml/federation.ts'

const DAY = 86_400_000
/** Days before a certificate expires at which the check warns, so that the provider can send the next one in time. */
const SOON = 30
/** Clocks further apart than this make trouble sooner or later. */
const MAX_OFFSET = 30_000

/** The identity providers, as far as they can be examined without a sign-on. */
export const checkSso = async (settings: Settings, base: BaseAddress): Promise<CheckResult[]> => [
  ...(await checkCas(settings, base)),
  ...(await checkSaml(settings, base)),
  ...(await checkFederations(settings, base)),
  ...(await checkOidc(settings, base)),
]

async function checkCas(settings: Settings, base: BaseAddress): Promise<CheckResult[]> {
  const cas = createCas(settings, realSystem, () => base)
  if (!cas) return [ok('CAS: off')]
  const { 'service.auth.cas.server.url': server, 'service.auth.cas.version': version } = settings
  const title = `CAS: ${version} at ${server ?? ''}`
  const rules = checkRules('CAS', cas.policy.rules)
  const probed = await probeCas(title, cas)
  return [ok(`${title}, service URL ${base.at('auth/cas')}`), ...rules, probed]
}

/** A ticket that was never issued must be refused for this very reason. */
async function probeCas(title: string, { provider }: CasSignOnOptions): Promise<CheckResult> {
  try {
    const reason = await provider.probe()
    if (/INVALID_SERVICE|UNAUTHORIZED_SERVICE/.test(reason)) {
      return problem(`${title}: the server does not know this service (${reason}); register the service URL there`)
    }
    return ok(`${title}: the server answers, and refuses an unknown ticket`)
  } catch (error) {
    if (!(error instanceof SsoRefused)) throw error
    const { check, expected, received } = error.failed
    return problem(`${title}: ${check}: expected ${expected}; received ${received}`)
  }
}

async function checkSaml(settings: Settings, base: BaseAddress): Promise<CheckResult[]> {
  if (settings['service.auth.saml'] === 'off') return [ok('SAML: off')]
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
  settings: Settings,
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
  return [...found, ...checkLogout(title, provider, known), ...(await checkClock(title, url))]
}

/** Who signs the metadata, where the settings name it. @throws {StartupError} */
const checkSigners = (title: string, settings: Settings, idp: string): CheckResult[] =>
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

async function checkOidc(settings: Settings, base: BaseAddress): Promise<CheckResult[]> {
  if (!settings['service.auth.oidc']) return [ok('OpenID Connect: off')]
  try {
    const logins = createOidcProviders(settings, { system: realSystem, log: createLog('silent') }, () => base)
    return (await Promise.all(logins.map(login => checkOidcProvider(login, base)))).flat()
  } catch (error) {
    if (!(error instanceof StartupError)) throw error
    return [problem(`OpenID Connect: ${error.message}`)]
  }
}

async function checkOidcProvider({ provider, policy }: OidcLogin, base: BaseAddress): Promise<CheckResult[]> {
  const { name, metadata } = provider
  const title = `OpenID Connect ${name}`
  const found = [ok(`${title}: redirect URI ${base.at(OIDC_CALLBACK_PATH)}`), ...checkRules(title, policy.rules)]
  await metadata.current().catch(() => undefined)
  const { url, metadata: known, problem: reason } = await metadata.status()
  if (!known) return [...found, problem(`${title}: the configuration cannot be used: ${reason ?? 'unknown'}`)]
  found.push(ok(`${title}: ${known.entityId}, ${known.keys.length} key(s), ${known.algorithms.join(', ')}`))
  return [...found, ...checkEndSession(title, provider, known), ...(await checkClock(title, url))]
}

/** Where a sign-out here goes on to. */
function checkEndSession(title: string, { endsSession }: OidcProvider, { endpoints }: OidcServer): CheckResult[] {
  if (!endsSession) return []
  if (endpoints.endSession !== undefined) return [ok(`${title}: a sign-out here goes on to ${endpoints.endSession}`)]
  return [warning(`${title}: single-logout is on, but the provider has no end_session_endpoint`)]
}

/** What the provider decides about, so that an operator sees a misspelt attribute or prefix before the first sign-on. */
function checkRules(title: string, rules: AttributeRules | undefined): CheckResult[] {
  if (!rules) return []
  const { groups, map, required } = rules
  const found = []
  if (groups?.prefix !== undefined) {
    const others = groups.provisions ? 'missing ones are created' : 'only existing ones count'
    found.push(ok(`${title}: groups "${groups.prefix}…" come from ${groups.attribute}; ${others}`))
  }
  if (groups?.adminValue !== undefined) {
    found.push(ok(`${title}: ${groups.attribute}=${groups.adminValue} makes administrators`))
  }
  if (map.size > 0) {
    const mapped = [...map].map(([target, attribute]) => `${target} from ${attribute}`)
    found.push(ok(`${title}: ${mapped.join(', ')}${rules.replaces ? '' : ', where missing'}`))
  }
  if (required.size > 0) found.push(ok(`${title}: required values of ${[...required.keys()].join(', ')}`))
  return found
}

async function checkClock(title: string, url: string): Promise<CheckResult[]> {
  const offset = await clockOffset(url, realSystem)
  if (offset === undefined) return []
  const text = `${title}: clocks differ by ${Math.round(offset / 1000)} s`
  return [Math.abs(offset) > MAX_OFFSET ? warning(text) : ok(text)]
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
async function checkFederations(settings: Settings, base: BaseAddress): Promise<CheckResult[]> {
  const idps = settings['service.auth.saml.idps.<n>']
  const found = await Promise.all(idps.map(idp => checkFederation(settings, idp, base)))
  return found.flat()
}

async function checkFederation(settings: Settings, idp: string, base: BaseAddress): Promise<CheckResult[]> {
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
    const isScoped = settings['service.auth.saml.idp.<idp>.scope-check'].get(idp) ?? true
    const scopes = isScoped ? [] : [warning(`${title}: scopes are not checked`)]
    return [
      ...certificates,
      ok(`${title}: users choose at ${discovery}`),
      ...logouts,
      ...scopes,
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
