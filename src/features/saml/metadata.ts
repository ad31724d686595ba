import { type KeyObject, X509Certificate } from 'node:crypto'
import type { Milliseconds } from '../../base/units.ts'
import { MetadataRefused } from '../sso/refusal.ts'
import { metadataLimits, parseUnsignedXml } from '../sso/xml.ts'
import { attributeOf, childrenNamed, descendantsNamed, type XmlElement } from '../sso/xml-element.ts'
import { DS, MD, POST_BINDING, REDIRECT_BINDING, SAMLP } from './names.ts'

export { MetadataRefused } from '../sso/refusal.ts'

export interface SigningCertificate {
  readonly subject: string
  readonly sha256: string
  readonly expires: Milliseconds
}

/** Where an identity provider takes messages of single logout by one binding. */
interface LogoutEndpoint {
  readonly url: string
  /** Where it takes responses. */
  readonly responseUrl: string
}

interface LogoutEndpoints {
  readonly redirect?: LogoutEndpoint
  readonly post?: LogoutEndpoint
}

/** The data of an identity provider that this service needs. */
export interface IdpMetadata {
  readonly entityId: string
  /** Where to send people, by the way they are sent. */
  readonly redirectUrl: string | undefined
  readonly postUrl: string | undefined
  /** Absent in copies that an earlier version has stored. */
  readonly logout?: LogoutEndpoints
  /** All keys the provider signs with (D8.6), PEM. */
  readonly keys: readonly string[]
  readonly certificates: readonly SigningCertificate[]
  /** Why other certificates for signatures are not used. Absent in copies that an earlier version has stored. */
  readonly unused?: readonly string[]
  /** After this the document must not be used. */
  readonly validUntil: Milliseconds | undefined
}

const MIN_RSA_BITS = 2048
const curves = new Set(['prime256v1', 'secp384r1', 'secp521r1'])

/**
 * Reads the metadata of one identity provider, also out of an aggregate if it is the only one in it. Comments, CDATA and processing
 * instructions are allowed, because people write metadata by hand and metadata identify no user.
 * @throws {MetadataRefused} @throws {XmlRefused}
 */
export function parseMetadata(text: string, now: Milliseconds): IdpMetadata {
  const root = parseUnsignedXml(text, metadataLimits)
  const entities =
    root.uri === MD && root.local === 'EntityDescriptor' ? [root] : descendantsNamed(root, MD, 'EntityDescriptor')
  const providers = entities.filter(entity => roleOf(entity))
  const [entity, ...more] = providers
  if (!entity) throw new MetadataRefused('no identity provider of SAML 2.0 is in it')
  if (more.length > 0) throw new MetadataRefused(`${providers.length} identity providers are in it; one is needed`)
  return readProvider(entity, now, root)
}

/**
 * Reads the identity provider that an EntityDescriptor describes.
 * @param root of the document; its `validUntil` applies as well
 * @throws {MetadataRefused}
 */
export function readProvider(entity: XmlElement, now: Milliseconds, root = entity): IdpMetadata {
  const role = roleOf(entity)
  if (!role) throw new MetadataRefused('no identity provider of SAML 2.0 is in it')
  const entityId = attributeOf(entity, 'entityID')?.trim()
  if (!entityId) throw new MetadataRefused('the identity provider has no entityID')
  const validUntil = earliest([root, entity, role].map(element => attributeOf(element, 'validUntil')))
  if (validUntil !== undefined && now >= validUntil) {
    throw new MetadataRefused(`it was valid until ${new Date(validUntil).toISOString()}`)
  }
  const { keys, certificates, unused } = signingKeys(role)
  if (keys.length === 0) throw new MetadataRefused(['no usable key for signatures is in it', ...unused].join('; '))
  return {
    entityId,
    redirectUrl: signOnUrl(role, REDIRECT_BINDING),
    postUrl: signOnUrl(role, POST_BINDING),
    logout: logoutEndpoints(role),
    keys,
    certificates,
    ...(unused.length > 0 ? { unused } : {}),
    validUntil,
  }
}

/** An entity may be a service provider as well; only this role is read. */
const roleOf = (entity: XmlElement): XmlElement | undefined =>
  childrenNamed(entity, MD, 'IDPSSODescriptor').find(role =>
    attributeOf(role, 'protocolSupportEnumeration')?.split(/\s+/).includes(SAMLP),
  )

function signOnUrl(role: XmlElement, binding: string): string | undefined {
  const service = serviceOf(role, 'SingleSignOnService', binding)
  const location = service && attributeOf(service, 'Location')?.trim()
  if (!location) return undefined
  if (isAddress(location)) return location
  throw new MetadataRefused(`its address "${location}" is not an http(s) address`)
}

/** An address that cannot be used is left out: a sign-on does not depend on single logout. */
function logoutEndpoints(role: XmlElement): LogoutEndpoints {
  const endpointOf = (binding: string): LogoutEndpoint | undefined => {
    const service = serviceOf(role, 'SingleLogoutService', binding)
    const url = (service && attributeOf(service, 'Location')?.trim()) ?? ''
    const responseUrl = (service && attributeOf(service, 'ResponseLocation')?.trim()) || url
    return isAddress(url) && isAddress(responseUrl) ? { url, responseUrl } : undefined
  }
  const [redirect, post] = [endpointOf(REDIRECT_BINDING), endpointOf(POST_BINDING)]
  return { ...(redirect ? { redirect } : {}), ...(post ? { post } : {}) }
}

const serviceOf = (role: XmlElement, name: string, binding: string): XmlElement | undefined =>
  childrenNamed(role, MD, name).find(service => attributeOf(service, 'Binding') === binding)

const isAddress = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text)

/** Maximum number of unused certificates whose reasons are stored and shown. */
const MAX_UNUSED = 10

interface SigningKeys {
  readonly keys: readonly string[]
  readonly certificates: readonly SigningCertificate[]
  readonly unused: readonly string[]
}

/** Keys for signatures, and keys for no stated purpose, which serve every purpose. */
function signingKeys(role: XmlElement): SigningKeys {
  const keys: string[] = []
  const certificates: SigningCertificate[] = []
  const unused: string[] = []
  for (const descriptor of childrenNamed(role, MD, 'KeyDescriptor')) {
    const use = attributeOf(descriptor, 'use')
    if (use !== undefined && use !== 'signing') continue
    for (const element of descendantsNamed(descriptor, DS, 'X509Certificate')) {
      const read = readCertificate(element.textContent)
      if ('unused' in read) {
        if (unused.length < MAX_UNUSED) unused.push(read.unused)
        continue
      }
      keys.push(read.key)
      certificates.push(read.certificate)
    }
  }
  return { keys: [...new Set(keys)], certificates, unused }
}

const PEM = { type: 'spki', format: 'pem' } as const

type ReadCertificate = { readonly key: string; readonly certificate: SigningCertificate } | { readonly unused: string }

/** @param text base64, which some providers put between the lines of PEM */
function readCertificate(text: string): ReadCertificate {
  const base64 = text.replaceAll(/-----(?:BEGIN|END) CERTIFICATE-----|\s/g, '')
  try {
    const certificate = new X509Certificate(Buffer.from(base64, 'base64'))
    const { publicKey, fingerprint256, validTo } = certificate
    // Absent where the certificate names nobody.
    const subject = (certificate.subject as string | undefined)?.replaceAll('\n', ', ') ?? ''
    const weakness = weaknessOf(publicKey)
    if (weakness !== undefined) return { unused: `the certificate "${subject}" has ${weakness}` }
    return {
      key: publicKey.export(PEM).toString(),
      certificate: {
        subject,
        sha256: fingerprint256.replaceAll(':', '').toLowerCase(),
        expires: Date.parse(validTo),
      },
    }
  } catch {
    return { unused: `a certificate cannot be read: "${base64.slice(0, 20)}…"` }
  }
}

/** Why a key is not used; `undefined` if it is. */
function weaknessOf({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): string | undefined {
  if (type === 'rsa') {
    const bits = details?.modulusLength ?? 0
    return bits < MIN_RSA_BITS ? `an RSA key of ${bits} bits; ${MIN_RSA_BITS} are needed` : undefined
  }
  if (type !== 'ec') return `a key of the type ${type ?? 'unknown'}; RSA or EC is needed`
  const curve = details?.namedCurve ?? 'unknown'
  return curves.has(curve) ? undefined : `a key on the curve ${curve}; one of ${[...curves].join(', ')} is needed`
}

function earliest(times: ReadonlyArray<string | undefined>): Milliseconds | undefined {
  const known = times.filter(time => time !== undefined).map(time => Date.parse(withFourDigits(time)))
  if (known.some(Number.isNaN)) throw new MetadataRefused('a validUntil in it is no date')
  return known.length === 0 ? undefined : Math.min(...known)
}

/** XML Schema has years after 9999, which stand for "without end". */
const withFourDigits = (time: string): string => time.trim().replace(/^[1-9]\d{4,}(?=-)/, '9999')
