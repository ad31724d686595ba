import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DOMParser } from '@xmldom/xmldom'
import * as fc from 'fast-check'
import { ExclusiveCanonicalization } from 'xml-crypto'
import { canonicalForm } from '../../src/features/saml/canonical.ts'
import { messageLimits, parseXml } from '../../src/features/sso/xml.ts'
import { childElements, type XmlElement } from '../../src/features/sso/xml-element.ts'

const prefixes = ['a', 'b', 'c']
const prefix = fc.constantFrom('', ...prefixes)
const value = fc
  .array(
    fc.constantFrom(
      'x',
      ' ',
      '\t',
      '\n',
      '\r\n',
      "'",
      '>',
      '&amp;',
      '&lt;',
      '&quot;',
      '&#9;',
      '&#10;',
      '&#xD;',
      'ä',
      '😀',
    ),
    {
      maxLength: 4,
    },
  )
  .map(pieces => pieces.join(''))

interface Shape {
  readonly prefix: string
  /** A new namespace for the default or for a prefix; `undefined`: what is above. */
  readonly declared: Readonly<Record<string, string | undefined>>
  readonly attributes: readonly (readonly [prefix: string, name: string, value: string])[]
  readonly children: readonly (Shape | string)[]
}

const declared = fc.record({
  '': fc.constantFrom(undefined, undefined, '', 'urn:0', 'urn:1'),
  a: fc.constantFrom(undefined, 'urn:1', 'urn:2'),
  b: fc.constantFrom(undefined, 'urn:2', 'urn:3'),
  c: fc.constantFrom(undefined, undefined, 'urn:4'),
})
const attribute = fc.tuple(fc.constantFrom('', 'xml', ...prefixes), fc.constantFrom('k', 'l', 'm'), value)

const { shape } = fc.letrec<{ shape: Shape }>(tie => ({
  shape: fc.record({
    prefix,
    declared,
    attributes: fc.uniqueArray(attribute, { maxLength: 3, selector: ([, name]) => name }),
    children: fc.array(fc.oneof({ maxDepth: 4, depthSize: 'large' }, value, tie('shape')), { maxLength: 4 }),
  }),
}))

const qualified = (at: string, name: string): string => (at === '' ? name : `${at}:${name}`)

function write({ prefix: own, declared: all, attributes, children }: Shape): string {
  const namespaces = Object.entries(all).map(([of, uri]) =>
    uri === undefined ? '' : ` ${qualified('xmlns', of).replace(/:$/, '')}="${uri}"`,
  )
  const others = attributes.map(([at, name, text]) => ` ${qualified(at, name)}="${text}"`)
  const inside = children.map(child => (typeof child === 'string' ? child : write(child)))
  return `<${qualified(own, 'e')}${namespaces.join('')}${others.join('')}>${inside.join('')}</${qualified(own, 'e')}>`
}

const inRoot = (one: Shape): string => `<r xmlns:a="urn:5" xmlns:b="urn:6" xmlns:c="urn:7">${write(one)}<e>x</e></r>`

/** The library's canonical form of the first element in the root, without its first child if that is asked for. */
function byLibrary(xml: string, listed: readonly string[], isShort: boolean): string {
  const element = new DOMParser().parseFromString(xml, 'text/xml').documentElement.firstChild as Element
  const [child] = Array.from(element.childNodes).filter(({ nodeType }) => nodeType === 1)
  if (isShort && child) element.removeChild(child)
  const ancestorNamespaces = [
    { prefix: 'a', namespaceURI: 'urn:5' },
    { prefix: 'b', namespaceURI: 'urn:6' },
    { prefix: 'c', namespaceURI: 'urn:7' },
  ].filter(({ prefix: one }) => !element.hasAttribute(`xmlns:${one}`))
  return new ExclusiveCanonicalization().process(element, {
    inclusiveNamespacesPrefixList: [...listed],
    ancestorNamespaces,
  })
}

const firstIn = (xml: string): XmlElement => childElements(parseXml(xml, messageLimits))[0] ?? assert.fail()

test('the canonical form is that of another implementation, and reads as it is written', () => {
  fc.assert(
    fc.property(shape, fc.subarray(prefixes), fc.boolean(), (one, listed, isShort) => {
      const xml = inRoot(one)
      const element = firstIn(xml)
      const without = isShort ? childElements(element)[0] : undefined
      const text = canonicalForm(element, listed, without)
      assert.equal(text, byLibrary(xml, listed, isShort), xml)
      assert.equal(canonicalForm(parseXml(text, messageLimits), listed), text, xml)
    }),
    { numRuns: 1500 },
  )
})

test('where the other implementation is known to be wrong, the form is that of the standard', () => {
  for (const [xml, listed, written] of [
    // It compares the namespace and the name as one text.
    [
      '<e xmlns:p="urn:a" xmlns:q="urn:ab" q:a="1" p:z="2"/>',
      [],
      '<e xmlns:p="urn:a" xmlns:q="urn:ab" p:z="2" q:a="1"></e>',
    ],
    // It leaves out what only begins like a declaration.
    ['<e xmlnsx="1"/>', [], '<e xmlnsx="1"></e>'],
    // It orders prefixes as a language does.
    ['<e xmlns:b="urn:b" xmlns:B="urn:B" b:x="" B:x=""/>', [], '<e xmlns:B="urn:B" xmlns:b="urn:b" B:x="" b:x=""></e>'],
    // It takes an attribute for a declaration if its name is listed.
    ['<e xmlns:p="urn:p" p:q="1"/>', ['q'], '<e xmlns:p="urn:p" p:q="1"></e>'],
    // It does not know the default namespace in the list.
    ['<p:e xmlns="urn:d" xmlns:p="urn:p"/>', ['#default'], '<p:e xmlns="urn:d" xmlns:p="urn:p"></p:e>'],
    // Its parser takes these for ends of lines, which they are in XML 1.1 only.
    ['<e>\u0085\u2028</e>', [], '<e>\u0085\u2028</e>'],
  ] as const) {
    const root = parseXml(xml, messageLimits)
    assert.equal(canonicalForm(root, listed), written)
    assert.equal(canonicalForm(parseXml(written, messageLimits), listed), written)
  }
})
