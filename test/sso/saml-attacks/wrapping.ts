import { buildResponse, cut, DSIG, edit, keyNamed, NAME, type Signed, signResponse } from '../../support/saml-idp.ts'
import { type Attack, EVIL } from './attack.ts'

const signed = (what: Signed): string => signResponse(buildResponse(), what)
const signatureIn = (xml: string): string => cut(xml, 'ds:Signature')
const bare = (xml: string): string => edit(xml, signatureIn(xml), '')
const assertionIn = (xml: string): string => cut(xml, 'saml:Assertion')
const withSaml = (assertion: string): string =>
  edit(assertion, '<saml:Assertion ', '<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ')
const evil = (xml: string, id = '_evil'): string =>
  xml.replaceAll(NAME, EVIL).replace(/ID="_(?:response|assertion)"/, `ID="${id}"`)
/** Under ids of its own throughout; its signature still refers to the original. */
const allEvil = (xml: string): string => evil(xml).replaceAll(/ ID="_(response|assertion)"/g, ' ID="_evil-$1"')
const before = (xml: string, mark: string, piece: string): string => edit(xml, mark, found => piece + found)
const END = '</samlp:Response>'
const object = (content: string): string => `<ds:Object xmlns:ds="${DSIG}">${content}</ds:Object>`

/** The eight classic ways of moving what was signed to where nobody reads it, by SAML Raider's numbers. */
const wraps: Readonly<Record<string, (xml: string) => string>> = {
  'XSW1, the original inside the signature of a forged response': xml => {
    const wrapping = edit(signatureIn(xml), '</ds:Signature>', found => bare(xml) + found)
    return edit(allEvil(xml), signatureIn(xml), wrapping)
  },
  'XSW2, the original before the signature of a forged response': xml =>
    before(allEvil(xml), '<ds:Signature', bare(xml)),
  'XSW3, a forged assertion before the original': xml => before(xml, '<saml:Assertion', evil(bare(assertionOf(xml)))),
  'XSW4, the original inside a forged assertion': xml => {
    const original = assertionIn(xml)
    return edit(xml, original, before(evil(bare(assertionOf(xml))), '</saml:Assertion>', original))
  },
  'XSW5, the signature on a forged assertion, the original at the end': xml =>
    before(edit(xml, assertionIn(xml), evil(assertionIn(xml))), END, bare(assertionOf(xml))),
  'XSW6, the original inside the signature of a forged assertion': xml => {
    const original = bare(assertionOf(xml))
    const inside = edit(xml, assertionIn(xml), evil(assertionIn(xml)))
    return edit(inside, '</ds:Signature>', found => original + found)
  },
  'XSW7, a forged assertion in Extensions': xml =>
    before(xml, '<samlp:Status>', `<samlp:Extensions>${evil(bare(assertionOf(xml)))}</samlp:Extensions>`),
  'XSW8, the original in an Object of the signature of a forged assertion': xml => {
    const original = bare(assertionOf(xml))
    const inside = edit(xml, assertionIn(xml), evil(assertionIn(xml)))
    return edit(inside, '</ds:Signature>', found => object(original) + found)
  },
}

/** The assertion with a signature in it, its own or one that does not matter, so that it can be taken out. */
function assertionOf(xml: string): string {
  const assertion = assertionIn(xml)
  return assertion.includes('<ds:Signature') ? assertion : edit(assertion, '<saml:Subject>', f => signatureIn(xml) + f)
}

const unsignedEvil = (): string => withSaml(evil(assertionIn(buildResponse())))

export const wrappingAttacks: readonly Attack[] = [
  ...(['response', 'assertion'] as const).flatMap(what =>
    Object.entries(wraps).map(([title, wrap]) => ({
      title: `${title} (${what} signed)`,
      check: 'assertion-count',
      xml: () => wrap(signed(what)),
    })),
  ),
  ...(['response', 'assertion'] as const).flatMap(what =>
    Object.entries(wraps)
      .filter(([title]) => /XSW[45678]/.test(title))
      .map(([title, wrap]) => ({
        title: `${title}, both with one id (${what} signed)`,
        check: 'duplicate-id',
        xml: () => wrap(signed(what)).replace('"_evil"', '"_assertion"'),
      })),
  ),
  {
    title: 'an unsigned assertion first, the signed one behind it',
    check: 'assertion-count',
    xml: () => before(signed('assertion'), '<saml:Assertion', unsignedEvil()),
  },
  {
    title: 'an unsigned assertion behind the signed one',
    check: 'assertion-count',
    xml: () => before(signed('assertion'), END, unsignedEvil()),
  },
  ...['samlp:Extensions', 'samlp:StatusDetail', 'samlp:StatusMessage'].map(name => ({
    title: `a second assertion in ${name} of the Status`,
    check: 'assertion-count',
    xml: () => before(signed('assertion'), '</samlp:Status>', `<${name}>${unsignedEvil()}</${name}>`),
  })),
  {
    title: 'a second assertion in an Object of the signature',
    check: 'assertion-count',
    xml: () => before(signed('both'), '</ds:Signature>', object(unsignedEvil())),
  },
  {
    title: 'a second assertion in an attribute value of the assertion',
    check: 'assertion-count',
    xml: () => before(signed('assertion'), '</saml:AttributeValue>', unsignedEvil()),
  },
  {
    title: 'a second assertion in Advice, validly signed',
    check: 'assertion-count',
    xml: () =>
      signResponse(
        edit(buildResponse(), '</saml:Conditions>', `</saml:Conditions><saml:Advice>${unsignedEvil()}</saml:Advice>`),
      ),
  },
  {
    title: 'the only assertion is not a child of the response',
    check: 'assertion-count',
    xml: () => {
      const xml = signed('assertion')
      return edit(xml, assertionIn(xml), `<samlp:Extensions>${assertionIn(xml)}</samlp:Extensions>`)
    },
  },
  {
    title: 'a forged assertion with the signature of another one, which is not there',
    check: 'signature-shape',
    xml: () => evil(signed('assertion')).replace('ID="_assertion"', 'ID="_other"'),
  },
  {
    title: 'a forged assertion with the id of the one that was signed',
    check: 'signature',
    xml: () => signed('assertion').replaceAll(NAME, EVIL),
  },
  {
    title: 'the signature of the assertion moved up to the response',
    check: 'signature-shape',
    xml: () => {
      const xml = signed('assertion')
      return before(bare(xml), '<samlp:Status>', signatureIn(xml))
    },
  },
  {
    title: 'the signature of the response moved down to the assertion',
    check: 'signature-shape',
    xml: () => {
      const xml = signed('response')
      return before(bare(xml), '<saml:Subject>', signatureIn(xml))
    },
  },
  {
    title: 'a signature deeper in the assertion, which enveloped-signature would take out',
    check: 'signature-shape',
    xml: () => {
      const xml = signed('assertion')
      return before(bare(xml), '<saml:NameID', signatureIn(xml))
    },
  },
  {
    title: 'a signature hidden in Extensions',
    check: 'signature-shape',
    xml: () => {
      const xml = signed('assertion')
      return before(bare(xml), '<samlp:Status>', `<samlp:Extensions>${signatureIn(xml)}</samlp:Extensions>`)
    },
  },
  {
    title: 'no assertion at all',
    check: 'assertion-count',
    xml: () => signResponse(edit(buildResponse(), /<saml:Assertion [^]*<\/saml:Assertion>/, '')),
  },
  {
    title: 'two assertions of one provider, each validly signed',
    check: 'assertion-count',
    xml: () => {
      const xml = signed('assertion')
      const second = signResponse(buildResponse({ name: EVIL }), 'assertion')
      return before(xml, END, assertionIn(second).replaceAll('_assertion', '_second'))
    },
  },
  {
    title: 'the assertion of a trusted message in a response of somebody else',
    check: 'signature',
    xml: () => signResponse(signed('assertion').replaceAll(NAME, EVIL), 'response', { key: keyNamed('attacker') }),
  },
]
