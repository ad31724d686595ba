import { escapeXml } from '../xml.ts'
import { DS, EMAIL_FORMAT, MD, POST_BINDING, REDIRECT_BINDING, SAMLP } from './names.ts'

export interface ServiceProvider {
  /** Relying-party id. */
  readonly entityId: string
  readonly acsUrl: string
  /** Certificates, PEM; absent without the key. */
  readonly signingCertificate: string | undefined
  readonly signsRequests: boolean
  readonly encryptionCertificates: readonly string[]
  /** Where it takes messages of single logout; absent while that is off. */
  readonly logoutUrl: string | undefined
}

/** The metadata of this service for one identity provider (D8.6). */
export function serviceProviderMetadata({
  entityId,
  acsUrl,
  signingCertificate,
  signsRequests,
  encryptionCertificates,
  logoutUrl,
}: ServiceProvider): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<md:EntityDescriptor xmlns:md="${MD}" entityID="${escapeXml(entityId)}">
  <md:SPSSODescriptor protocolSupportEnumeration="${SAMLP}" AuthnRequestsSigned="${signsRequests}" WantAssertionsSigned="true">
${keyDescriptor('signing', signingCertificate)}${encryptionCertificates.map(one => keyDescriptor('encryption', one)).join('')}${logoutServices(logoutUrl)}    <md:NameIDFormat>${EMAIL_FORMAT}</md:NameIDFormat>
    <md:AssertionConsumerService Binding="${POST_BINDING}" Location="${escapeXml(acsUrl)}" index="0" isDefault="true"/>
  </md:SPSSODescriptor>
</md:EntityDescriptor>
`
}

/** Both bindings at one address. The schema requires them between the keys and the formats of names. */
const logoutServices = (url: string | undefined): string =>
  url === undefined
    ? ''
    : [REDIRECT_BINDING, POST_BINDING]
        .map(binding => `    <md:SingleLogoutService Binding="${binding}" Location="${escapeXml(url)}"/>\n`)
        .join('')

function keyDescriptor(use: string, certificate: string | undefined): string {
  if (certificate === undefined) return ''
  const base64 = certificate.replaceAll(/-----[A-Z ]+-----|\s/g, '')
  return `    <md:KeyDescriptor use="${use}"><ds:KeyInfo xmlns:ds="${DS}"><ds:X509Data><ds:X509Certificate>${base64}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>
`
}
