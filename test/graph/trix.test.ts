import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvalidInput } from '../../src/base/errors.ts'
import { GraphReader } from '../../src/graph/graph-reader.ts'
import { findSyntax } from '../../src/graph/syntaxes.ts'
import { readTrix } from '../../src/graph/trix.ts'

const BASE = 'http://ex.org/own'
const P = '<uri>http://ex.org/p</uri>'
const S = '<uri>http://ex.org/s</uri>'
const document = (graph: string): string =>
  `<?xml version="1.0"?><TriX xmlns="http://www.w3.org/2004/03/trix/trix-1/">${graph}</TriX>`
const triple = (...parts: readonly string[]): string => document(`<graph><triple>${parts.join('')}</triple></graph>`)
const refused = (text: string): Promise<void> =>
  assert.rejects(readTrix(text, BASE), { constructor: InvalidInput, code: 'invalid-graph' }, text.slice(0, 200))

test('TriX: terms of every kind, prefixes, comments and CDATA', async () => {
  const text = `<!-- a --><t:TriX xmlns:t="http://www.w3.org/2004/03/trix/trix-1/"><t:graph>
    <t:triple><t:id>x</t:id> <t:uri> http://ex.org/p </t:uri><t:plainLiteral xml:lang="en-GB"><![CDATA[<a>&]]></t:plainLiteral></t:triple>
    <t:triple><t:uri>http://ex.org/s</t:uri><t:uri>http://ex.org/p</t:uri><t:id>x</t:id></t:triple>
    <t:triple><t:uri>http://ex.org/s</t:uri><t:uri>http://ex.org/p</t:uri><t:typedLiteral datatype="urn:x:t"> 1\r\n</t:typedLiteral></t:triple>
  </t:graph></t:TriX>`
  assert.deepEqual(await readTrix(text, BASE), {
    '_:b0': { 'http://ex.org/p': [{ type: 'literal', value: '<a>&', lang: 'en-GB' }] },
    'http://ex.org/s': {
      'http://ex.org/p': [
        { type: 'bnode', value: '_:b0' },
        { type: 'literal', value: ' 1\n', datatype: 'urn:x:t' },
      ],
    },
  })
})

test('TriX: a graph may have the name of its own address', async () => {
  const text = document(`<graph><uri>${BASE}</uri><triple>${S}${P}${S}</triple></graph>`)
  assert.deepEqual(await readTrix(text, BASE), {
    'http://ex.org/s': { 'http://ex.org/p': [{ type: 'uri', value: 'http://ex.org/s' }] },
  })
})

test('TriX: anything but one graph without another name is refused', async () => {
  for (const text of [
    '',
    'a',
    '<TriX/>',
    '<TriX xmlns="http://ex.org/"/>',
    document('<graph>').replace('</TriX>', ''),
    document('<graph></TriX>'),
    document('<a/>'),
    document('<graph><uri>http://ex.org/g</uri><triple/></graph>'),
    document(`<graph><uri>http://ex.org/g</uri><triple>${S}${P}${S}</triple></graph>`),
    triple(),
    triple(S, P),
    triple(S, P, S, S),
    triple(S, '<id>a</id>', S),
    triple('<plainLiteral>a</plainLiteral>', P, S),
    triple(S, P, '<b>a</b>'),
    triple(S, P, `<uri><uri>http://ex.org/</uri></uri>`),
    triple(S, P, '<uri>relative</uri>'),
    triple(S, P, '<plainLiteral xml:lang="a b">a</plainLiteral>'),
    `${triple(S, P, S)}<more/>`,
  ]) {
    await refused(text)
  }
})

test('TriX: entities and depth do not cost more than they bring', async t => {
  await refused(`<!DOCTYPE TriX [<!ENTITY a "aaaa">]>${triple(S, P, '<plainLiteral>&a;</plainLiteral>')}`)
  await refused(`<!DOCTYPE TriX SYSTEM "file:///etc/passwd">${triple(S, P, S)}`)
  const reader = new GraphReader()
  t.after(() => reader.close())
  const syntax = findSyntax('application/trix')
  assert.ok(syntax)
  const deep = triple(S, P, `${'<uri>'.repeat(50_000)}a${'</uri>'.repeat(50_000)}`)
  await assert.rejects(reader.read(syntax, deep, 'http://ex.org/', { caller: 'test' }), InvalidInput)
  const long = document(`<graph>${`<triple>${S}${P}<plainLiteral>a</plainLiteral></triple>`.repeat(20_000)}</graph>`)
  assert.equal(Object.keys(await reader.read(syntax, long, 'http://ex.org/', { caller: 'test' })).length, 1)
})
