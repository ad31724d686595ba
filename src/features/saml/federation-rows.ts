import { absoluteUrl } from '../../config/address-kinds.ts'
import { choice, text } from '../../config/kinds.ts'

/** Federations of SAML (D31): settings of an identity provider entry that stands for all providers of a federation. */
export const federationKeys = {
  'service.auth.saml.idp.<idp>.federation': choice(['off', 'aggregate', 'mdq', 'mdq-sha1'], {
    default: 'off',
    help: 'Users choose one of many identity providers. `aggregate`: the metadata are a signed document with all of them. `mdq`, `mdq-sha1`: `metadata.url` is the base address of a metadata query service, which is asked by entity id or by its SHA-1.',
  }),
  'service.auth.saml.idp.<idp>.metadata.certificate-file': text({
    expects: 'the path of a file',
    help: 'Certificates (PEM, one or more) of the keys that sign the metadata. Required for a federation. For a single identity provider, metadata without a signature by one of these keys are refused.',
  }),
  'service.auth.saml.idp.<idp>.user-name-attribute': text({
    expects: 'the name of an attribute',
    defaultText: 'the NameID',
    help: 'Attribute with the user name, such as `eduPersonPrincipalName`. Any NameID is accepted then.',
  }),
  'service.auth.saml.idp.<idp>.required-categories.<n>': text({
    expects: 'the address of an entity category or an assurance certification',
    help: 'Only identity providers of the federation that have all of these can be chosen.',
  }),
  'service.auth.saml.idp.<idp>.groups-entities.<n>': text({
    expects: 'an entity id',
    help: 'Entity ids of the identity providers in a federation whose groups are accepted. Required there with `groups-attribute`, because otherwise any of them could make its users members of any group, or administrators.',
  }),
  'service.auth.saml.idp.<idp>.discovery-url': absoluteUrl({
    defaultText: 'the search page of this service',
    help: 'Discovery service where users choose their identity provider.',
  }),
} as const
