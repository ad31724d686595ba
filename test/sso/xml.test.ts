import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import {
  escapeXml,
  messageLimits,
  metadataLimits,
  parseUnsignedXml,
  parseXml,
  XmlRefused,
} from '../../src/features/sso/xml.ts'
import { attributeOf, childrenNamed, descendantsNamed, textOf, XmlElement } from '../../src/features/sso/xml-element.ts'

const parse = (text: string): XmlElement => parseXml(text, messageLimits)

test('what is escaped is read back as it was, in content and in attributes', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('\u0085', 'a\u2028b')), text => {
      // oxlint-disable-next-line no-control-regex -- what XML cannot hold
      fc.pre(!/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/.test(text) && text.isWellFormed())
      const element = parse(`<a b="${escapeXml(text)}">${escapeXml(text)}</a>`)
      assert.equal(element.textContent, text)
      assert.equal(attributeOf(element, 'b'), text)
    }),
  )
  assert.equal(escapeXml(`<"&'>\n\u2028`), '&#60;&#34;&#38;&#39;&#62;&#10;&#8232;')
})

test('parsing always ends with a document or a refusal', () => {
  const piece = fc.constantFrom(
    '<a',
    '<a>',
    '</a>',
    '<b/>',
    '>',
    '/',
    '"',
    "'",
    '=',
    ' x="1"',
    ' xmlns="urn:x"',
    'xml',
    ':',
    '&amp;',
    '&',
    ';',
    '#',
    '!',
    '?',
    '-',
    ' ',
    'p:',
    '\uFEFF',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), pieces => {
      try {
        assert.ok(parse(pieces.join('')) instanceof XmlElement)
      } catch (error) {
        if (!(error instanceof XmlRefused)) throw error
      }
    }),
    { numRuns: 3000 },
  )
})

test('the limits are what they say: one more is refused', () => {
  const limits = { bytes: 100, depth: 3, elements: 4, attributes: 2, attributesEach: 2, names: 3 }
  const fits = ['<a><b><c/></b></a>', '<a><b/><b/><b/></a>', '<a x="" y=""/>', `<a>${'x'.repeat(93)}</a>`]
  const tooMuch = [
    '<a><b><c><d></d></c></b></a>',
    '<a><b/><b/><b/><b/></a>',
    '<a><b/><c/><d/></a>',
    '<a x="" y=""><b z=""/></a>',
    `<a>${'x'.repeat(94)}</a>`,
    `<a>${'ä'.repeat(47)}</a>`,
  ]
  for (const text of fits) assert.ok(parseXml(text, limits), text)
  for (const text of tooMuch) assert.throws(() => parseXml(text, limits), { name: 'XmlRefused', reason: 'size' }, text)
})

test('names are a namespace and a local part; prefixes mean nothing', () => {
  const root = parse('<a xmlns="urn:1" xmlns:p="urn:1" xmlns:q="urn:2"><b/><p:b><p:b/></p:b><q:b/></a>')
  assert.equal(childrenNamed(root, 'urn:1', 'b').length, 2)
  assert.equal(childrenNamed(root, 'urn:2', 'b').length, 1)
  assert.equal(descendantsNamed(root, 'urn:1', 'b').length, 3)
})

test('an attribute that is absent and one that is empty are two things; text with elements in it is none', () => {
  const root = parse('<a b="" xmlns:p="urn:p" p:c="1">x<i/>y</a>')
  assert.equal(attributeOf(root, 'b'), '')
  assert.equal(attributeOf(root, 'c'), undefined)
  assert.equal(textOf(root), undefined)
  assert.equal(textOf(parse('<a>x</a>')), 'x')
  assert.equal(textOf(parse('<a/>')), '')
})

test('a declaration, a mark of byte order and white space around are fine', () => {
  for (const text of [
    '<?xml version="1.0"?><a/>',
    '\uFEFF<?xml version="1.0" encoding="utf-8"?>\n<a/>\n',
    '\n <a/> ',
    '<a ></a >',
  ]) {
    assert.equal(parse(text).local, 'a', JSON.stringify(text))
  }
})

const refusalOf = (text: string, limits = messageLimits, parse = parseXml): string => {
  try {
    parse(text, limits)
    return 'accepted'
  } catch (error) {
    if (error instanceof XmlRefused) return `${error.reason}: ${error.message}`
    throw error
  }
}

const inside = (count: number): string => '<a>'.repeat(count) + '</a>'.repeat(count)
const attributes = (count: number, at = 0): string =>
  Array.from({ length: count }, (_, number) => ` a${at + number}=""`).join('')
const siblings = (count: number, write: (at: number) => string = () => '<b/>'): string =>
  `<a>${Array.from({ length: count }, (_, at) => write(at)).join('')}</a>`

test('messages and metadata have the limits that the documentation names (D8.3)', () => {
  const tooMany = 'size: is nested too deeply or has too many parts'
  for (const [limits, bytes, names] of [
    [messageLimits, 524_288, 200],
    [metadataLimits, 8_388_608, 400],
  ] as const) {
    assert.equal(refusalOf(`<a>${'x'.repeat(bytes - 7)}</a>`, limits), 'accepted')
    assert.equal(refusalOf(`<a>${'x'.repeat(bytes - 6)}</a>`, limits), `size: more than ${bytes} bytes`)
    assert.equal(refusalOf(inside(40), limits), 'accepted')
    assert.equal(refusalOf(inside(41), limits), tooMany)
    assert.equal(refusalOf(`<a${attributes(100)}/>`, limits), 'accepted')
    assert.equal(refusalOf(`<a${attributes(101)}/>`, limits), 'size: has an element with too many attributes')
    assert.equal(
      refusalOf(
        siblings(names - 1, at => `<b${at}/>`),
        limits,
      ),
      'accepted',
    )
    assert.equal(
      refusalOf(
        siblings(names, at => `<b${at}/>`),
        limits,
      ),
      tooMany,
    )
  }
  assert.equal(refusalOf(siblings(10_000)), tooMany)
  assert.equal(refusalOf(siblings(301, () => `<b${attributes(100)}/>`)), tooMany)
})

test('each construct that is refused is named', () => {
  for (const [text, said] of [
    ['<?x y?><a/>', 'processing-instruction: holds a processing instruction'],
    ['<a/><?xml version="1.0"?>', 'processing-instruction: holds a processing instruction'],
    ['<!-- --><a/>', 'comment: holds a comment'],
    ['<!DOCTYPE a><a/>', 'doctype: holds a DOCTYPE'],
    ['<a><![CDATA[x]]></a>', 'markup: holds a CDATA section or a declaration'],
    ['<a>&x;</a>', 'xml: has a bare ampersand'],
    ['<a>x & y</a>', 'xml: has a bare ampersand'],
    ['<a>&#xg;</a>', 'xml: has a bare ampersand'],
    ['<a>&#1a;</a>', 'xml: has a bare ampersand'],
    ['<a>&#;</a>', 'xml: has a bare ampersand'],
    ['<a><b</a>', 'xml: not well-formed: disallowed character in tag name.'],
    ['<a b="<"/>', 'xml: not well-formed: disallowed character.'],
    ['<a></b>', 'xml: not well-formed: unexpected close tag.'],
    ['</a>', 'xml: not well-formed: unmatched closing tag: a.'],
    ['<a><b></a></b>', 'xml: not well-formed: unexpected close tag.'],
    ['x<a/>', 'xml: not well-formed: text data outside of root node.'],
    ['<a/>x', 'xml: not well-formed: text data outside of root node.'],
    ['x', 'xml: not well-formed: text data outside of root node.'],
    ['<p:a/>', 'xml: not well-formed: unbound namespace prefix: "p".'],
    ['<a p:b=""/>', 'xml: not well-formed: unbound namespace prefix: "p".'],
    ['<a><p:a/></a>', 'xml: not well-formed: unbound namespace prefix: "p".'],
    ['<a xmlns:p="urn:1" xmlns:q="urn:1" p:b="" q:b=""/>', 'xml: not well-formed: duplicate attribute: {urn:1}b.'],
    ['<a xmlns:p=""/>', 'xml: xmlns:p="" declares no namespace'],
    ['<a xmlns:p="x"/>', 'xml: xmlns:p="x" declares no namespace'],
    ['<a xmlns="x"/>', 'xml: xmlns="x" declares no namespace'],
    ['<a xmlns=" urn:x"/>', 'xml: xmlns=" urn:x" declares no namespace'],
    ['<a xmlns="urn:x "/>', 'xml: xmlns="urn:x " declares no namespace'],
    ['<a xmlns:p="urn:x&#10;"/>', 'xml: xmlns:p="urn:x\n" declares no namespace'],
    ['<a xmlns:xml="urn:x"/>', 'xml: xmlns:xml="urn:x" declares no namespace'],
    ['<a xmlns:xmlns="urn:x"/>', 'xml: xmlns:xmlns="urn:x" declares no namespace'],
    [
      '<a xmlns:p="http://www.w3.org/XML/1998/namespace"/>',
      'xml: xmlns:p="http://www.w3.org/XML/1998/namespace" declares no namespace',
    ],
    ['<a xmlns="http://www.w3.org/2000/xmlns/"/>', 'xml: xmlns="http://www.w3.org/2000/xmlns/" declares no namespace'],
  ] as const)
    assert.equal(refusalOf(text), said, text)
  assert.match(refusalOf(''), /^xml: not well-formed: /)
  assert.match(refusalOf('<a>'), /^xml: not well-formed: /)
  assert.match(refusalOf('<a b="" b=""/>'), /^xml: not well-formed: /)
})

test('declarations of namespaces, references and brackets in quotes are read as XML means them', () => {
  for (const text of [
    '<a xmlns="urn:x"><b xmlns=""/></a>',
    '<a xmlns:xml="http://www.w3.org/XML/1998/namespace" xml:lang="de"/>',
    '<a xmlns="HTTP+a.b-c://x"/>',
    '<a xmlns:p="urn:1" xmlns:q="urn:2" b="" p:b="" q:b=""/>',
    '<a b=\'">\' c="\'>"/>',
    '<a>&amp;&lt;&gt;&quot;&apos;&#65;&#x41;&#xfFfD;</a>',
    '<?xml version="1.0"?>\n<a/>',
    ' <?xml version="1.0"?><a/>',
  ])
    assert.equal(refusalOf(text), 'accepted', text)
})

test('characters that XML does not have are refused, as themselves and by number', () => {
  const said = 'characters: holds characters that XML does not allow'
  const bad = [0, 1, 8, 0xb, 0xc, 0xe, 0x1f, 0xd800, 0xdfff, 0xfffe, 0xffff, 0x110000]
  const good = [9, 0xa, 0xd, 0x20, 0xd7ff, 0xe000, 0xfffd, 0x10000, 0x10ffff]
  for (const [codes, outcome] of [
    [bad, said],
    [good, 'accepted'],
  ] as const) {
    for (const code of codes) {
      assert.equal(refusalOf(`<a>&#${code};</a>`), outcome, `${code}`)
      assert.equal(refusalOf(`<a>&#x${code.toString(16)};</a>`), outcome, code.toString(16))
      assert.equal(refusalOf(`<a>&#x${code.toString(16).toUpperCase()};</a>`), outcome, code.toString(16))
      const isHalf = code >= 0xd800 && code <= 0xdfff
      if (code < 0x110000 && !isHalf)
        assert.equal(refusalOf(`<a>${String.fromCodePoint(code)}</a>`), outcome, `${code}`)
    }
  }
  assert.equal(refusalOf('<a>&#65;&#0;</a>'), said)
})

test('without a signature comments and processing instructions are left out, and CDATA is text', () => {
  for (const [text, content] of [
    ['<a/>', ''],
    ['<!--x--><a>b</a><!---->', 'b'],
    ['<a>b<!-- <c> -- > -->d</a>', 'bd'],
    ['<a>b<?c <d> ?>e</a><?f?>', 'be'],
    ['<a>b<![CDATA[<c>&amp;<!--d--><?e?>&]]>f</a>', 'b<c>&amp;<!--d--><?e?>&f'],
    ['<a><![CDATA[]]><![CDATA[]]]]><![CDATA[>]]></a>', ']]>'],
    ['<a><!-- <![CDATA[ -->b<!-- ]]> --></a>', 'b'],
    ['\uFEFF<?xml version="1.0"?>\n<!-- x -->\n<a>b</a>\n', 'b'],
  ] as const)
    assert.equal(parseUnsignedXml(text, messageLimits).textContent, content, text)
  for (const [text, reason] of [
    ['<a/><!-- x', 'comment'],
    ['<a/><!-->', 'comment'],
    ['<a/><?x', 'processing-instruction'],
    ['<a><![CDATA[x</a>', 'markup'],
    ['<a>b]]></a>', 'xml'],
    ['<a><![CDATA[\u0001]]></a>', 'characters'],
    ['<!-- x --><!DOCTYPE a><a/>', 'doctype'],
    ['<a><!ELEMENT b></a>', 'markup'],
    [`<a>${'<![CDATA[<]]>'.repeat(100_000)}</a>`, 'accepted'],
    [`<a>${'<![CDATA[<]]>'.repeat(110_000)}</a>`, 'size'],
  ] as const) {
    const said = refusalOf(text, messageLimits, parseUnsignedXml)
    assert.equal(said.split(':')[0], reason, text.slice(0, 50))
  }
})

test('what XML forbids is refused, although other parsers accept it', () => {
  const malformed = {
    'the end of a CDATA section in a text': '<a>]]></a>',
    'half a character': '<a>\uD800</a>',
    'two slashes at the end of a tag': '<a//>',
    'a character that is no white space in XML': '<a\u0085b=""/>',
    'no white space between attributes': '<a b=""c=""/>',
    'an end tag with an attribute': '<a></a b="">',
    'an element that does not end': '<a><b></a>',
    'an attribute twice by its namespace': '<a xmlns:p="urn:p" xmlns:q="urn:p" p:b="" q:b=""/>',
    'an undeclared prefix': '<p:a/>',
    'a second root': '<a/><b/>',
  }
  for (const [what, text] of Object.entries(malformed)) {
    assert.throws(() => parse(text), { name: 'XmlRefused', reason: 'xml', message: /^not well-formed: / }, what)
  }
  assert.throws(
    () => parse(`<${'a'.repeat(1000)}>`),
    ({ message }: Error) => message.length < 250,
  )
})
