import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvalidInput } from '../../src/base/errors.ts'
import { GraphReader } from '../../src/graph/graph-reader.ts'
import { findSyntax, type Syntax } from '../../src/graph/syntaxes.ts'
import { after } from '../support/after.ts'

const reader = new GraphReader()
after(() => reader.close())

const BASE = 'http://127.0.0.1:8080/1/metadata/2'
const caller = { caller: 'test' }
const syntaxOf = (mediaType: string): Syntax => {
  const syntax = findSyntax(mediaType)
  assert.ok(syntax)
  return syntax
}
const turtle = syntaxOf('text/turtle')
const rdfJson = syntaxOf('application/rdf+json')
const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text))
const subject = 'http://127.0.0.1:8080/1/resource/2'
const document = (length: number): string => `<${subject}> <urn:p> "${'x'.repeat(length)}" .`

test('a document is the same graph as text, as bytes, short and long, with and without relative IRIs', async () => {
  const options = { ...caller, relativeTo: 'http://127.0.0.1:8080/' }
  for (const length of [10, 10_000]) {
    const whole = { 'urn:p': [{ type: 'literal', value: 'x'.repeat(length) }] }
    for (const form of [document(length), bytesOf(document(length))]) {
      const again = typeof form === 'string' ? form : form.slice()
      assert.deepEqual({ ...(await reader.read(turtle, form, BASE, caller)) }, { [subject]: whole })
      const graph = await reader.read(turtle, again, BASE, options)
      assert.deepEqual({ ...graph }, { './1/resource/2': whole })
    }
  }
})

test('a check refuses what reading refuses', async () => {
  const good = bytesOf(document(10_000))
  await reader.check(turtle, good, BASE, caller)
  for (const text of ['<urn:a> <urn:p>', `${document(10_000)} <urn:a>`]) {
    const expected = { constructor: InvalidInput, code: 'invalid-graph' }
    await assert.rejects(reader.check(turtle, bytesOf(text), BASE, caller), expected)
    await assert.rejects(reader.read(turtle, bytesOf(text), BASE, caller), expected)
  }
})

test('bytes that are not UTF-8 are refused, short and long', async () => {
  for (const length of [10, 10_000, 100_000]) {
    const broken = (): Uint8Array<ArrayBuffer> => new Uint8Array([...bytesOf(document(length)), 0xff])
    const expected = { constructor: InvalidInput, code: 'bad-request' }
    await assert.rejects(reader.read(turtle, broken(), BASE, caller), expected)
    await assert.rejects(reader.read(rdfJson, broken(), BASE, caller), expected)
    await assert.rejects(reader.check(turtle, broken(), BASE, caller), expected)
  }
})
