import { buildResponse, edit, NAME, NOW, signResponse, SP } from '../../support/saml-idp.ts'
import { type Attack, EVIL, issued } from './attack.ts'

const at = (fromNow: number): string => new Date(NOW + fromNow).toISOString()
const URN = 'urn:oasis:names:tc:SAML:2.0'
const RESPONSE_ISSUER = /<saml:Issuer>[^<]*<\/saml:Issuer>(?=\n<samlp:Status)/
const ASSERTION_ISSUER = /<saml:Issuer>[^<]*<\/saml:Issuer>(?=\n<saml:Subject)/
/** Of another namespace, so that it is none. */
const NO_ISSUER = '<x:Issuer xmlns:x="urn:x"></x:Issuer>'
const STATUS = /<samlp:Status>.*<\/samlp:Status>/
const DATA = /<saml:SubjectConfirmationData [^>]*\/>/
const CONFIRMATION = /<saml:SubjectConfirmation .*<\/saml:SubjectConfirmation>/
const NAME_ID = /<saml:NameID .*<\/saml:NameID>/
const CONDITIONS = /<saml:Conditions .*<\/saml:Conditions>/
const twice = (found: string): string => found + found
const status = (code: string): string => `<samlp:StatusCode Value="${URN}:status:${code}"/>`
/** Both validities, that of the conditions and that of the confirmation. */
const CONDITIONS_END = /(?<=Conditions [^>]*NotOnOrAfter=")[^"]*/
const CONDITIONS_START = /(?<=Conditions NotBefore=")[^"]*/
const DATA_END = /(?<=ConfirmationData NotOnOrAfter=")[^"]*/
/** Only at the response, only at the confirmation. */
const REQUEST_OF_RESPONSE = / InResponseTo="_request"(?=>)/
const REQUEST_OF_DATA = / InResponseTo="_request"(?=\/>)/
const unsolicited = { requestId: undefined }

export const statementAttacks: readonly Attack[] = [
  issued('a status of failure', 'status', [['status:Success', 'status:Responder']]),
  issued('a status of failure with a good assertion and a reason', 'status', [
    [
      STATUS,
      `<samlp:Status><samlp:StatusCode Value="${URN}:status:Requester">${status('NoPassive')}</samlp:StatusCode><samlp:StatusMessage>no</samlp:StatusMessage></samlp:Status>`,
    ],
  ]),
  issued('no Status', 'status', [[STATUS, '']]),
  issued('two Status', 'status', [[STATUS, twice]]),
  issued('a Status of failure behind one of success', 'status', [
    [STATUS, found => found + found.replace('Success', 'Responder')],
  ]),
  issued('an empty Status', 'status', [[STATUS, '<samlp:Status/>']]),
  issued('two status codes', 'status', [[/<samlp:StatusCode [^>]*>/, found => found + status('Responder')]]),
  issued('success inside a failure', 'status', [
    [
      /<samlp:StatusCode [^>]*>/,
      `<samlp:StatusCode Value="${URN}:status:Responder">${status('Success')}</samlp:StatusCode>`,
    ],
  ]),
  issued('a status code without a value', 'status', [[/ Value="[^"]*"/, '']]),
  issued('the success of SAML 1', 'status', [[/ Value="[^"]*"/, ' Value="samlp:Success"']]),
  issued('a Status of another namespace', 'status', [[STATUS, found => found.replaceAll('samlp:', 'saml:')]]),

  issued('version 1.1 of the response', 'version', [[/(?<=_response" )Version="2.0"/, 'Version="1.1"']]),
  issued('no version of the response', 'version', [[/(?<=_response" )Version="2.0"/, '']]),
  issued('version 1.1 of the assertion', 'version', [[/(?<=_assertion" )Version="2.0"/, 'Version="1.1"']]),
  issued('no version of the assertion', 'version', [[/(?<=_assertion" )Version="2.0"/, '']]),
  {
    title: 'a response in the namespace of SAML 1',
    check: 'root',
    xml: () => signResponse(buildResponse().replaceAll('SAML:2.0:protocol', 'SAML:1.0:protocol')),
  },
  {
    title: 'an assertion in the namespace of SAML 1',
    check: 'assertion-count',
    xml: () => signResponse(buildResponse().replaceAll('SAML:2.0:assertion', 'SAML:1.0:assertion')),
  },
  {
    title: 'a LogoutResponse',
    check: 'root',
    xml: () => signResponse(buildResponse().replaceAll('samlp:Response', 'samlp:LogoutResponse')),
  },
  {
    title: 'a bare assertion',
    check: 'root',
    xml: () =>
      /<saml:Assertion [^]*<\/saml:Assertion>/
        .exec(signResponse(buildResponse(), 'assertion'))?.[0]
        .replace('<saml:Assertion', `<saml:Assertion xmlns:saml="${URN}:assertion"`) ?? '',
  },
  {
    title: 'a response in an envelope',
    check: 'root',
    xml: () => `<Envelope>${signResponse(buildResponse())}</Envelope>`,
  },
  {
    title: 'a response in small letters',
    check: 'root',
    xml: () => buildResponse().replaceAll('samlp:Response', 'samlp:response'),
  },

  issued('another issuer of the assertion', 'issuer', [
    [ASSERTION_ISSUER, '<saml:Issuer>https://evil.example</saml:Issuer>'],
  ]),
  issued('another issuer of the response', 'issuer', [
    [RESPONSE_ISSUER, '<saml:Issuer>https://evil.example</saml:Issuer>'],
  ]),
  issued(
    'another issuer of an unsigned response',
    'issuer',
    [[RESPONSE_ISSUER, '<saml:Issuer>https://evil.example</saml:Issuer>']],
    { signed: 'assertion' },
  ),
  issued('an issuer in other case', 'issuer', [
    [ASSERTION_ISSUER, found => found.replace('idp.example', 'IDP.example')],
  ]),
  issued('an issuer that begins like ours', 'issuer', [[ASSERTION_ISSUER, found => found.replace('</', '/x</')]]),
  issued('no issuer of the assertion', 'issuer', [[ASSERTION_ISSUER, '']]),
  issued('an empty issuer of the assertion', 'issuer', [[ASSERTION_ISSUER, '<saml:Issuer/>']]),
  issued('an empty issuer of the response', 'issuer', [[RESPONSE_ISSUER, '<saml:Issuer></saml:Issuer>']]),
  issued('two issuers of the assertion', 'issuer', [[ASSERTION_ISSUER, twice]]),
  issued('two issuers of the response', 'issuer', [[RESPONSE_ISSUER, twice]]),
  issued('an issuer of another format', 'issuer', [
    [ASSERTION_ISSUER, found => found.replace('Issuer>', 'Issuer Format="urn:x">')],
  ]),
  issued('elements in the issuer', 'issuer', [[ASSERTION_ISSUER, found => found.replace('https', '<saml:x/>https')]]),
  issued('an issuer of another namespace', 'issuer', [
    [ASSERTION_ISSUER, found => found.replaceAll('saml:', 'samlp:')],
  ]),

  issued('another Destination', 'destination', [[/(?<=Destination=")[^"]*/, 'https://evil.example/']]),
  issued('a Destination without its query', 'destination', [[/(?<=Destination="[^"]*)\?[^"]*/, '']]),
  issued('a Destination for another identity provider', 'destination', [
    [/(?<=Destination="[^"]*)idp=a|(?<=Destination="[^"]*idp&#61;)a/, 'idp=b'],
  ]),
  issued('a Destination by http', 'destination', [['Destination="https:', 'Destination="http:']]),
  issued('a Destination in other case', 'destination', [['Destination="https://store', 'Destination="https://STORE']]),
  issued('a Destination that begins like ours', 'destination', [[/(?<=Destination="[^"]*)"/, '&amp;x=1"']]),
  issued('no Destination of a signed response', 'destination', [[/ Destination="[^"]*"/, '']]),
  issued('an empty Destination', 'destination', [[/(?<=Destination=")[^"]*/, '']]),
  issued('an empty Destination of an unsigned response', 'destination', [[/(?<=Destination=")[^"]*/, '']], {
    signed: 'assertion',
  }),
  issued(
    'another Destination of an unsigned response',
    'destination',
    [[/(?<=Destination=")[^"]*/, 'https://evil.example/']],
    { signed: 'assertion' },
  ),

  issued('another Recipient', 'recipient', [[/(?<=Recipient=")[^"]*/, 'https://evil.example/']]),
  issued('a Recipient without its query', 'recipient', [[/(?<=Recipient="[^"]*)\?[^"]*/, '']]),
  issued('no Recipient', 'recipient', [[/ Recipient="[^"]*"/, '']]),
  issued('an empty Recipient', 'recipient', [[/(?<=Recipient=")[^"]*/, '']]),
  issued('a Recipient of another namespace', 'recipient', [[' Recipient', ' saml:Recipient']]),

  issued('another request at the response', 'in-response-to', [[REQUEST_OF_RESPONSE, ' InResponseTo="_other"']]),
  issued('another request at the confirmation', 'in-response-to', [[REQUEST_OF_DATA, ' InResponseTo="_other"']]),
  issued('no request at the response', 'in-response-to', [[REQUEST_OF_RESPONSE, '']]),
  issued('no Issuer of a signed response', 'issuer', [[RESPONSE_ISSUER, NO_ISSUER]]),
  issued('no Issuer of a response that is signed like its assertion', 'issuer', [[RESPONSE_ISSUER, NO_ISSUER]], {
    signed: 'both',
  }),
  issued('no request at the confirmation', 'in-response-to', [[REQUEST_OF_DATA, '']]),
  issued('an empty request at the response', 'in-response-to', [[REQUEST_OF_RESPONSE, ' InResponseTo=""']]),
  issued('an empty request at the confirmation', 'in-response-to', [[REQUEST_OF_DATA, ' InResponseTo=""']]),
  {
    title: 'no request anywhere, though one was made',
    check: 'in-response-to',
    xml: () => signResponse(buildResponse({ requestId: undefined })),
  },
  {
    title: 'a request, though none was made',
    check: 'in-response-to',
    xml: () => signResponse(buildResponse()),
    expected: unsolicited,
  },
  {
    title: 'a request at the confirmation, though none was made',
    check: 'in-response-to',
    xml: () => signResponse(edit(buildResponse(), REQUEST_OF_RESPONSE, '')),
    expected: unsolicited,
  },

  issued('another audience', 'audience', [[`<saml:Audience>${SP}`, '<saml:Audience>urn:another']]),
  issued('an audience in other case', 'audience', [[`<saml:Audience>${SP}`, '<saml:Audience>urn:The-service']]),
  issued('an audience that begins like ours', 'audience', [[`<saml:Audience>${SP}`, `<saml:Audience>${SP}/`]]),
  issued('no AudienceRestriction', 'audience', [[/<saml:AudienceRestriction>.*<\/saml:AudienceRestriction>/, '']]),
  issued('an AudienceRestriction without an audience', 'audience', [[/<saml:Audience>.*<\/saml:Audience>/, '']]),
  issued('an empty audience', 'audience', [[/<saml:Audience>.*<\/saml:Audience>/, '<saml:Audience/>']]),
  issued('elements in the audience', 'audience', [[`<saml:Audience>${SP}`, `<saml:Audience><saml:x/>${SP}`]]),
  issued('a second AudienceRestriction that excludes us', 'audience', [
    [
      '<saml:AudienceRestriction>',
      '<saml:AudienceRestriction><saml:Audience>urn:x</saml:Audience></saml:AudienceRestriction><saml:AudienceRestriction>',
    ],
  ]),
  issued('an audience outside the conditions', 'audience', [
    [
      /<saml:AudienceRestriction>.*<\/saml:AudienceRestriction><\/saml:Conditions>/,
      found => `</saml:Conditions>${found.replace('</saml:Conditions>', '')}`,
    ],
  ]),
  issued('no Conditions', 'conditions', [[CONDITIONS, '']]),
  issued('two Conditions', 'conditions', [[CONDITIONS, twice]]),
  issued('an unknown condition', 'conditions', [['</saml:Conditions>', '<saml:Condition/></saml:Conditions>']]),
  issued('a condition of another namespace', 'conditions', [
    ['</saml:Conditions>', '<x:OneTimeUse xmlns:x="urn:x"/></saml:Conditions>'],
  ]),

  issued('expired conditions', 'expired', [[CONDITIONS_END, at(-60_000)]]),
  issued('an expired confirmation', 'expired', [[DATA_END, at(-60_000)]]),
  {
    title: 'a response of yesterday',
    check: 'expired',
    xml: () => signResponse(buildResponse({ now: NOW - 86_400_000 })),
  },
  {
    title: 'a response of tomorrow',
    check: 'not-yet-valid',
    xml: () => signResponse(buildResponse({ now: NOW + 86_400_000 })),
  },
  issued('conditions that do not hold yet', 'not-yet-valid', [[CONDITIONS_START, at(60_001)]]),
  issued('a confirmation that does not hold yet', 'not-yet-valid', [
    ['<saml:SubjectConfirmationData ', `<saml:SubjectConfirmationData NotBefore="${at(60_001)}" `],
  ]),
  issued('a confirmation without an end', 'expired', [[/(?<=ConfirmationData) NotOnOrAfter="[^"]*"/, '']]),
  issued('an empty end of the confirmation', 'expired', [[DATA_END, '']]),
  issued('an empty end of the conditions', 'expired', [[CONDITIONS_END, '']]),
  issued('an end that is no time', 'expired', [[CONDITIONS_END, 'tomorrow']]),
  issued('a start that is no time', 'not-yet-valid', [[CONDITIONS_START, '0']]),
  issued('an end without a zone', 'expired', [[CONDITIONS_END, '2026-11-21T11:00:00']]),
  issued('an end that is a date only', 'expired', [[CONDITIONS_END, '2026-11-22']]),
  issued('an end in the year 10000', 'expired', [[CONDITIONS_END, '10000-01-01T00:00:00Z']]),
  issued('an end in the year +275761', 'expired', [[DATA_END, '+275761-01-01T00:00:00Z']]),
  issued('an end in the 13th month', 'expired', [[DATA_END, '2026-13-01T00:00:00Z']]),
  issued('an end on the 30th of February', 'expired', [[DATA_END, '2027-02-30T00:00:00Z']]),
  issued('an end at second 61', 'expired', [[DATA_END, '2026-11-21T23:59:61Z']]),
  issued('an end in the words of a mail', 'expired', [[DATA_END, 'Sun, 22 Nov 2026 10:00:00 GMT']]),
  issued('a session of the provider that is over', 'session-expired', [
    ['SessionIndex', `SessionNotOnOrAfter="${at(-60_000)}" SessionIndex`],
  ]),
  issued('a session of the provider with an end that is no time', 'session-expired', [
    ['SessionIndex', 'SessionNotOnOrAfter="x" SessionIndex'],
  ]),
  issued('nobody has authenticated', 'authn-statement', [[/<saml:AuthnStatement .*<\/saml:AuthnStatement>/, '']]),

  issued('no Subject', 'subject', [[/<saml:Subject>[^]*<\/saml:Subject>/, '']]),
  issued('two Subjects', 'subject', [[/<saml:Subject>[^]*<\/saml:Subject>/, twice]]),
  issued('a Subject of SAML 1', 'subject', [
    [
      /<saml:Subject>[^]*<\/saml:Subject>/,
      found =>
        found
          .replaceAll('saml:', 'o:')
          .replace('<o:Subject', '<o:Subject xmlns:o="urn:oasis:names:tc:SAML:1.0:assertion"'),
    ],
  ]),
  issued('no SubjectConfirmation', 'subject-confirmation', [[CONFIRMATION, '']]),
  issued('of two confirmations each fits in part', 'recipient', [
    [
      CONFIRMATION,
      found =>
        edit(found, /Recipient="[^"]*"/, 'Recipient="https://elsewhere.example/acs"') +
        edit(found, /InResponseTo="[^"]*"/, 'InResponseTo="_other"'),
    ],
  ]),
  issued('two confirmations that are over', 'expired', [
    [DATA_END, at(-60_000)],
    [CONFIRMATION, twice],
  ]),
  issued('a confirmation by another method and one for nobody', 'subject-confirmation', [
    [CONFIRMATION, found => edit(found, 'cm:bearer', 'cm:holder-of-key') + edit(found, / Recipient="[^"]*"/, '')],
  ]),
  issued('a confirmation inside another one', 'subject-confirmation', [
    [CONFIRMATION, found => `<saml:SubjectConfirmation Method="urn:x">${found}</saml:SubjectConfirmation>`],
  ]),
  issued('a holder of key', 'subject-confirmation', [['cm:bearer', 'cm:holder-of-key']]),
  issued('a voucher', 'subject-confirmation', [['cm:bearer', 'cm:sender-vouches']]),
  issued('no method', 'subject-confirmation', [[/ Method="[^"]*"/, '']]),
  issued('no SubjectConfirmationData', 'subject-confirmation', [[DATA, '']]),
  issued('two SubjectConfirmationData', 'subject-confirmation', [[DATA, twice]]),
  issued('a confirmation outside the Subject', 'subject-confirmation', [
    [
      /<saml:SubjectConfirmation [^]*<\/saml:Subject>/,
      found => `</saml:Subject>${found.replace('</saml:Subject>', '')}`,
    ],
  ]),

  issued('no NameID', 'name-id', [[NAME_ID, '']]),
  issued('an empty NameID', 'name-id', [[`>${NAME}</saml:NameID>`, '></saml:NameID>']]),
  issued('a NameID of blanks', 'name-id', [[`>${NAME}</saml:NameID>`, '> \t\n </saml:NameID>']]),
  issued('two NameIDs', 'name-id', [[NAME_ID, twice]]),
  issued('a second NameID with another name', 'name-id', [[NAME_ID, found => found.replace(NAME, EVIL) + found]]),
  issued('elements in the NameID', 'name-id', [[`>${NAME}</saml:NameID>`, '>admin<x/>@a.example</saml:NameID>']]),
  issued('a NameID inside the NameID', 'name-id', [
    [`>${NAME}</saml:NameID>`, `><saml:NameID>${EVIL}</saml:NameID></saml:NameID>`],
  ]),
  issued('a transient NameID', 'name-id', [
    ['SAML:1.1:nameid-format:emailAddress', 'SAML:2.0:nameid-format:transient'],
  ]),
  issued('an EncryptedID without a key of ours', 'decryption', [[NAME_ID, '<saml:EncryptedID/>']]),
  issued('an EncryptedID beside the NameID', 'name-id', [[NAME_ID, found => `${found}<saml:EncryptedID/>`]]),
  issued('a BaseID beside the NameID', 'name-id', [[NAME_ID, found => `${found}<saml:BaseID/>`]]),
  issued('a NameID of another namespace beside the NameID', 'name-id', [
    [NAME_ID, found => `${found}<x:NameID xmlns:x="urn:x">${EVIL}</x:NameID>`],
  ]),
  issued('a NameID of another namespace only', 'name-id', [[NAME_ID, found => found.replaceAll('saml:', 'samlp:')]]),
  issued('no id of the assertion', 'assertion-id', [[' ID="_assertion"', '']]),
  issued('an empty id of the assertion', 'assertion-id', [[' ID="_assertion"', ' ID=""']]),
  issued('an id of 10 kB', 'assertion-id', [[' ID="_assertion"', ` ID="_${'x'.repeat(10_000)}"`]]),
]
