import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SaxesParser } from 'saxes'
import { CanonicalWriter, isDeclaration } from '../../src/features/saml/canonical.ts'

/** The canonical form of a document. @param apex name of the element that it begins with */
function canonical(xml: string, prefixes: readonly string[] = [], apex?: string): string {
  const parts: string[] = []
  const writer = new CanonicalWriter(text => parts.push(text), prefixes)
  const parser = new SaxesParser({ xmlns: true, position: false })
  let depth = 0
  const isInside = (name: string) => depth > 0 || apex === undefined || name === apex
  parser.on('opentag', tag => {
    if (!isInside(tag.name)) return
    depth++
    writer.open(tag, prefix => parser.resolve(prefix))
  })
  parser.on('text', text => {
    if (depth > 0) writer.text(text)
  })
  parser.on('closetag', ({ name }) => {
    if (depth === 0) return
    depth--
    writer.close(name)
  })
  parser.write(xml).close()
  return parts.join('')
}

test('text and values are escaped as canonical XML has it (D31.1)', () => {
  for (const [text, written] of [
    ['&amp;', '&amp;'],
    ['&lt;', '&lt;'],
    ['>', '&gt;'],
    ['&#13;', '&#xD;'],
    ['"\'\t\n', '"\'\t\n'],
    ['a&amp;&lt;>&#13;b', 'a&amp;&lt;&gt;&#xD;b'],
  ] as const)
    assert.equal(canonical(`<a>${text}</a>`), `<a>${written}</a>`, text)
  for (const [value, written] of [
    ['&amp;', '&amp;'],
    ['&lt;', '&lt;'],
    ['&quot;', '&quot;'],
    ['&#9;', '&#x9;'],
    ['&#10;', '&#xA;'],
    ['&#13;', '&#xD;'],
    ["&gt;'", ">'"],
    ['a&amp;&lt;&quot;&#9;&#10;&#13;b', 'a&amp;&lt;&quot;&#x9;&#xA;&#xD;b'],
  ] as const)
    assert.equal(canonical(`<a b="${value}"/>`), `<a b="${written}"></a>`, value)
  assert.equal(canonical('<a xmlns="urn:&amp;&lt;"/>'), '<a xmlns="urn:&amp;&lt;"></a>')
})

test('namespaces are written where they are used first, and again after another meaning (D31.1)', () => {
  for (const [xml, written] of [
    ['<a xmlns:x="urn:x"/>', '<a></a>'],
    ['<x:a xmlns:x="urn:x"><x:b/></x:a>', '<x:a xmlns:x="urn:x"><x:b></x:b></x:a>'],
    ['<a xmlns:x="urn:x"><x:b/><x:c/></a>', '<a><x:b xmlns:x="urn:x"></x:b><x:c xmlns:x="urn:x"></x:c></a>'],
    [
      '<x:a xmlns:x="urn:x"><x:b xmlns:x="urn:y"><x:c/></x:b><x:d/></x:a>',
      '<x:a xmlns:x="urn:x"><x:b xmlns:x="urn:y"><x:c></x:c></x:b><x:d></x:d></x:a>',
    ],
    ['<a xmlns="urn:a"><b xmlns=""/></a>', '<a xmlns="urn:a"><b xmlns=""></b></a>'],
    ['<a xmlns=""><b/></a>', '<a><b></b></a>'],
    ['<a xmlns:x="urn:x" x:y="1"/>', '<a xmlns:x="urn:x" x:y="1"></a>'],
    ['<a xml:lang="en"/>', '<a xml:lang="en"></a>'],
    [
      '<z:a xmlns:z="urn:z" xmlns:b="urn:b" xmlns="urn:d" b:x="1"><c/></z:a>',
      '<z:a xmlns:b="urn:b" xmlns:z="urn:z" b:x="1"><c xmlns="urn:d"></c></z:a>',
    ],
  ] as const)
    assert.equal(canonical(xml), written)
})

test('attributes are in the order of namespace and name (D31.1)', () => {
  assert.equal(
    canonical('<a xmlns:p="urn:2" xmlns:q="urn:1" p:a="1" q:b="2" q:a="3" z="4" b="5"/>'),
    '<a xmlns:p="urn:2" xmlns:q="urn:1" b="5" z="4" q:a="3" q:b="2" p:a="1"></a>',
  )
})

test('listed prefixes are written at the apex, whether they are used or not (D31.1)', () => {
  const xml = '<r xmlns="urn:d" xmlns:x="urn:x" xmlns:y="urn:y"><y:a><x:b/></y:a></r>'
  const plain = '<y:a xmlns:y="urn:y"><x:b xmlns:x="urn:x"></x:b></y:a>'
  assert.equal(canonical(xml, [], 'y:a'), plain)
  assert.equal(canonical(xml, ['x'], 'y:a'), '<y:a xmlns:x="urn:x" xmlns:y="urn:y"><x:b></x:b></y:a>')
  const withDefault = '<y:a xmlns="urn:d" xmlns:y="urn:y"><x:b xmlns:x="urn:x"></x:b></y:a>'
  assert.equal(canonical(xml, ['#default'], 'y:a'), withDefault)
  assert.equal(canonical(xml, ['unknown'], 'y:a'), plain)
})

test('declarations of namespaces are no attributes', () => {
  const named = (name: string, prefix: string) => isDeclaration({ name, prefix })
  assert.deepEqual(
    [named('xmlns', ''), named('xmlns:a', 'xmlns'), named('a:xmlns', 'a'), named('a', '')],
    [true, true, false, false],
  )
})
