import { escapeXml } from '../sso/xml.ts'
import { DS, EMAIL_FORMAT, IDPDISC, MD, POST_BINDING, REDIRECT_BINDING, SAMLP } from './names.ts'

interface ServiceProvider {
  /** Relying-party id. */
  readonly entityId: string
  readonly acsUrl: string
  /** Certificates, PEM; absent without the key. */
  readonly signingCertificate: string | undefined
  readonly encryptionCertificates: readonly string[]
  /** Where it takes messages of single logout; absent while that is off. */
  readonly logoutUrl: string | undefined
  /** The user name is in an attribute, so any NameID will do. */
  readonly anyNameId: boolean
  /** Where discovery services send users back to; absent without a federation. */
  readonly discoveryReturnUrl: string | undefined
}

/** The metadata of this service for one identity provider (D8.6). */
export function serviceProviderMetadata({
  entityId,
  acsUrl,
  signingCertificate,
  encryptionCertificates,
  logoutUrl,
  anyNameId,
  discoveryReturnUrl,
}: ServiceProvider): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<md:EntityDescriptor xmlns:md="${MD}" entityID="${escapeXml(entityId)}">
  <md:SPSSODescriptor protocolSupportEnumeration="${SAMLP}" AuthnRequestsSigned="${signingCertificate !== undefined}" WantAssertionsSigned="true">
${discoveryResponse(discoveryReturnUrl)}${keyDescriptor('signing', signingCertificate)}${encryptionCertificates.map(one => keyDescriptor('encryption', one)).join('')}${logoutServices(logoutUrl)}${anyNameId ? '' : `    <md:NameIDFormat>${EMAIL_FORMAT}</md:NameIDFormat>\n`}    <md:AssertionConsumerService Binding="${POST_BINDING}" Location="${escapeXml(acsUrl)}" index="0" isDefault="true"/>
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

/** Discovery services send users to addresses that our metadata name, and nowhere else (Identity Provider Discovery Service Protocol 2.5). */
function discoveryResponse(url: string | undefined): string {
  if (url === undefined) return ''
  return `    <md:Extensions><idpdisc:DiscoveryResponse xmlns:idpdisc="${IDPDISC}" Binding="${IDPDISC}" Location="${escapeXml(url)}" index="0" isDefault="true"/></md:Extensions>
`
}

function keyDescriptor(use: string, certificate: string | undefined): string {
  if (certificate === undefined) return ''
  const base64 = certificate.replaceAll(/-----[A-Z ]+-----|\s/g, '')
  return `    <md:KeyDescriptor use="${use}"><ds:KeyInfo xmlns:ds="${DS}"><ds:X509Data><ds:X509Certificate>${base64}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>
`
}
