import { type KeyObject, X509Certificate } from 'node:crypto'
import type { Milliseconds } from '../../base/units.ts'
import { MetadataRefused } from '../refusal.ts'
import { metadataLimits, parseXml, withoutComments } from '../xml.ts'
import { attributeOf, childrenNamed, descendantsNamed, type XmlElement } from '../xml-element.ts'
import { DS, MD, POST_BINDING, REDIRECT_BINDING, SAMLP } from './names.ts'

export { MetadataRefused } from '../refusal.ts'

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

/** What this service needs to know of an identity provider. */
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
  /** After this the document must not be used. */
  readonly validUntil: Milliseconds | undefined
}

const MIN_RSA_BITS = 2048
const curves = new Set(['prime256v1', 'secp384r1', 'secp521r1'])

/**
 * Reads the metadata of one identity provider, also out of an aggregate if it is the only one in it. Comments are allowed,
 * because people write metadata by hand and metadata identify no user.
 * @throws {MetadataRefused} @throws {XmlRefused}
 */
export function parseMetadata(text: string, now: Milliseconds): IdpMetadata {
  const root = parseXml(withoutComments(text), metadataLimits)
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
  const entityId = attributeOf(entity, 'entityID')
  if (!entityId) throw new MetadataRefused('the identity provider has no entityID')
  const validUntil = earliest([root, entity, role].map(element => attributeOf(element, 'validUntil')))
  if (validUntil !== undefined && now >= validUntil) {
    throw new MetadataRefused(`it was valid until ${new Date(validUntil).toISOString()}`)
  }
  const { keys, certificates } = signingKeys(role)
  if (keys.length === 0) throw new MetadataRefused('no usable key for signatures is in it')
  return {
    entityId,
    redirectUrl: signOnUrl(role, REDIRECT_BINDING),
    postUrl: signOnUrl(role, POST_BINDING),
    logout: logoutEndpoints(role),
    keys,
    certificates,
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
  const location = service && attributeOf(service, 'Location')
  if (!location) return undefined
  if (isAddress(location)) return location
  throw new MetadataRefused(`its address "${location}" is not an http(s) address`)
}

/** An address that cannot be used is left out: a sign-on does not depend on single logout. */
function logoutEndpoints(role: XmlElement): LogoutEndpoints {
  const endpointOf = (binding: string): LogoutEndpoint | undefined => {
    const service = serviceOf(role, 'SingleLogoutService', binding)
    const url = (service && attributeOf(service, 'Location')) ?? ''
    const responseUrl = (service && attributeOf(service, 'ResponseLocation')) || url
    return isAddress(url) && isAddress(responseUrl) ? { url, responseUrl } : undefined
  }
  const [redirect, post] = [endpointOf(REDIRECT_BINDING), endpointOf(POST_BINDING)]
  return { ...(redirect ? { redirect } : {}), ...(post ? { post } : {}) }
}

const serviceOf = (role: XmlElement, name: string, binding: string): XmlElement | undefined =>
  childrenNamed(role, MD, name).find(service => attributeOf(service, 'Binding') === binding)

const isAddress = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text)

/** Keys for signatures, and keys for no stated purpose, which serve every purpose. */
function signingKeys(role: XmlElement): { keys: string[]; certificates: SigningCertificate[] } {
  const keys: string[] = []
  const certificates: SigningCertificate[] = []
  for (const descriptor of childrenNamed(role, MD, 'KeyDescriptor')) {
    const use = attributeOf(descriptor, 'use')
    if (use !== undefined && use !== 'signing') continue
    for (const element of descendantsNamed(descriptor, DS, 'X509Certificate')) {
      const certificate = readCertificate(element.textContent)
      if (!isStrong(certificate.publicKey)) continue
      keys.push(certificate.publicKey.export(PEM).toString())
      certificates.push({
        subject: certificate.subject.replaceAll('\n', ', '),
        sha256: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
        expires: Date.parse(certificate.validTo),
      })
    }
  }
  return { keys: [...new Set(keys)], certificates }
}

const PEM = { type: 'spki', format: 'pem' } as const

function readCertificate(text: string): X509Certificate {
  try {
    return new X509Certificate(Buffer.from(text.replaceAll(/\s/g, ''), 'base64'))
  } catch (error) {
    throw new MetadataRefused('a certificate in it cannot be read', { cause: error })
  }
}

function isStrong({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  if (asymmetricKeyType === 'rsa') return (asymmetricKeyDetails?.modulusLength ?? 0) >= MIN_RSA_BITS
  return asymmetricKeyType === 'ec' && curves.has(asymmetricKeyDetails?.namedCurve ?? '')
}

function earliest(times: ReadonlyArray<string | undefined>): Milliseconds | undefined {
  const known = times.filter(time => time !== undefined).map(time => Date.parse(time))
  if (known.some(Number.isNaN)) throw new MetadataRefused('a validUntil in it is no date')
  return known.length === 0 ? undefined : Math.min(...known)
}
