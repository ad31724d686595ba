import { boolean, choice, text } from './kinds.ts'

const file = { expects: 'the path of a file' }
const authnContext = { expects: 'a URI', matches: /^[a-z][a-z\d+.-]*:\S+$/i }

/** Requests to SAML identity providers, and sign-out (D30). */
export const samlRequestKeys = {
  'service.auth.saml.encryption.second.key-file': text({
    ...file,
    help: 'A second private key (PEM, RSA) that decrypts, while one replaces the other; requires the certificate.',
  }),
  'service.auth.saml.encryption.second.certificate-file': text({
    ...file,
    help: 'Certificate (PEM) of the second encryption key, published beside the other.',
  }),
  'service.auth.saml.idp.<idp>.single-logout': choice(['off', 'accept', 'on'], {
    default: 'off',
    help: 'Single logout. `accept`: a sign-out at the identity provider ends the sessions here. `on`: a sign-out here ends the session at the identity provider as well. Requires a signing key.',
  }),
  'service.auth.saml.idp.<idp>.sign-requests': boolean({
    defaultText: '`on` with a signing key',
    help: 'Sign the requests for a sign-on. Messages of single logout are always signed.',
  }),
  'service.auth.saml.idp.<idp>.signing.key-file': text({
    ...file,
    defaultText: 'value of `service.auth.saml.signing.key-file`',
    help: 'Private key (PEM) that signs for this identity provider only; requires the certificate.',
  }),
  'service.auth.saml.idp.<idp>.signing.certificate-file': text({
    ...file,
    defaultText: 'value of `service.auth.saml.signing.certificate-file`',
    help: 'Certificate (PEM) of this key.',
  }),
  'service.auth.saml.idp.<idp>.force-authn': boolean({
    default: false,
    help: 'Each sign-on requires that the user authenticates again (`ForceAuthn`). A response that says otherwise is refused.',
  }),
  'service.auth.saml.idp.<idp>.authn-context.<n>': text({
    ...authnContext,
    help: 'Class of authentication that is requested (`AuthnContextClassRef`), the preferred one first. A response with another one is refused.',
  }),
  'service.auth.saml.idp.<idp>.authn-context-comparison': choice(['exact', 'minimum', 'maximum', 'better'], {
    default: 'exact',
    help: 'How the identity provider compares classes with those that are requested.',
  }),
  'service.auth.saml.idp.<idp>.accepted-authn-context.<n>': text({
    ...authnContext,
    defaultText: 'the requested classes',
    help: 'Class of authentication that a response may have. Required where the comparison is not `exact`, because only the identity provider knows the order of classes.',
  }),
  'service.auth.saml.idp.<idp>.deep-links': boolean({
    default: false,
    help: 'A sign-on that was begun at the identity provider goes to the page that its `RelayState` names, by the same rules as `successurl`. Requires `allow-unsolicited`.',
  }),
} as const
