/** Namespaces and identifiers of SAML 2.0 and XML Signature, as the standards write them. */
export const SAML = 'urn:oasis:names:tc:SAML:2.0:assertion'
export const SAMLP = 'urn:oasis:names:tc:SAML:2.0:protocol'
export const MD = 'urn:oasis:names:tc:SAML:2.0:metadata'
export const DS = 'http://www.w3.org/2000/09/xmldsig#'
export const XENC = 'http://www.w3.org/2001/04/xmlenc#'
export const XENC11 = 'http://www.w3.org/2009/xmlenc11#'

export const SUCCESS = 'urn:oasis:names:tc:SAML:2.0:status:Success'
export const PARTIAL_LOGOUT = 'urn:oasis:names:tc:SAML:2.0:status:PartialLogout'
export const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer'
export const REDIRECT_BINDING = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect'
export const POST_BINDING = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST'
export const EMAIL_FORMAT = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress'
export const TRANSIENT_FORMAT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient'
export const ENTITY_FORMAT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:entity'

export const EXCLUSIVE_C14N = 'http://www.w3.org/2001/10/xml-exc-c14n#'
/** The same form for documents without comments. */
export const EXCLUSIVE_C14N_WITH_COMMENTS = `${EXCLUSIVE_C14N}WithComments`
export const ENVELOPED = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature'

/** Extensions of metadata: for people, scopes of attributes, attributes of an entity, discovery. */
export const MDUI = 'urn:oasis:names:tc:SAML:metadata:ui'
export const SHIBMD = 'urn:mace:shibboleth:metadata:1.0'
export const MDATTR = 'urn:oasis:names:tc:SAML:metadata:attribute'
export const IDPDISC = 'urn:oasis:names:tc:SAML:profiles:SSO:idp-discovery-protocol'
