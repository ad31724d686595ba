import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import {
  attributeOf,
  childrenNamed,
  descendantsNamed,
  escapeXml,
  messageLimits,
  parseXml,
  textOf,
  XmlRefused,
} from '../../src/sso/xml.ts'

const parse = (text: string): Element => parseXml(text, messageLimits).documentElement

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
        assert.equal(parse(pieces.join('')).nodeType, 1)
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
    assert.equal(parse(text).localName, 'a', JSON.stringify(text))
  }
})
