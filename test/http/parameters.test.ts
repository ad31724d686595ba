import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { InvalidInput } from '../../src/base/errors.ts'
import { isFlagSet, Parameters } from '../../src/http/protocol/parameters.ts'

const parse = (text: string): Parameters => Parameters.parse(text, 'invalid-query')
const isRefused = (error: unknown): boolean => error instanceof InvalidInput && error.code === 'invalid-query'

const values: ReadonlyArray<readonly [text: string, name: string, value: string | undefined]> = [
  ['a=1&b=2', 'b', '2'],
  ['a=1&', 'a', '1'],
  ['&&a=1&&', 'a', '1'],
  ['a', 'a', ''],
  ['a=', 'a', ''],
  ['a=b=c', 'a', 'b=c'],
  ['=x', '', 'x'],
  ['a=x+y', 'a', 'x y'],
  ['a=x%2By', 'a', 'x+y'],
  ['a=%26%3D', 'a', '&='],
  ['a=%F0%9F%97%9D', 'a', '🗝'],
  ['a=🗝', 'a', '🗝'],
  ['%61=1', 'a', '1'],
  ['A=1', 'a', undefined],
  ['a[]=1', 'a', undefined],
  ['__proto__=1', '__proto__', '1'],
  ['list=http://h/1/resource/2', 'list', 'http://h/1/resource/2'],
  ['', 'a', undefined],
]
for (const [text, name, value] of values) {
  test(`"${text}" gives ${JSON.stringify(value)} for "${name}"`, () => {
    assert.equal(parse(text).get(name), value)
    assert.equal(parse(text).has(name), value !== undefined)
  })
}

for (const text of ['a=%', 'a=%z1', 'a=%c3', 'a=%C0%AF', 'a=%ED%A0%80', 'a=%ff', '%=1', 'ok=1&a=%1']) {
  test(`"${text}" is refused as malformed, never guessed at (D1.5)`, () => {
    assert.throws(() => parse(text), isRefused)
  })
}

test('a parameter given twice is refused when it is asked for, whatever its values (D1.5)', () => {
  const twice = parse('a=1&b=2&a=1')
  assert.equal(twice.get('b'), '2')
  assert.equal(twice.has('a'), true)
  assert.throws(() => twice.get('a'), isRefused)
  assert.throws(() => parse('a=1&%61=2').get('a'), isRefused)
})

test('names of Object.prototype are not there unless they were sent', () => {
  for (const name of ['constructor', '__proto__', 'toString']) {
    assert.equal(parse('a=1').has(name), false)
    assert.equal(parse('a=1').get(name), undefined)
  }
})

test('what a form encodes is read back as it was', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' })), {
        selector: ([name]) => name,
      }),
      pairs => {
        const parameters = parse(new URLSearchParams(pairs).toString())
        for (const [name, value] of pairs) assert.equal(parameters.get(name), value)
      },
    ),
  )
})

test('any text is read or refused, with no other error', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), text => {
      try {
        parse(text)
      } catch (error) {
        assert.ok(isRefused(error))
      }
    }),
  )
})

test('a flag is set without a value and with any that is not a no (W3.0.4)', () => {
  for (const text of ['f', 'f=', 'f=true', 'f=1', 'f=yes', 'x&f']) assert.equal(isFlagSet(parse(text), 'f'), true, text)
  for (const text of ['', 'x', 'f=false', 'f=FALSE', 'f=off', 'f=Off', 'f=0'])
    assert.equal(isFlagSet(parse(text), 'f'), false, text)
})

test('refusals say which parameter is wrong, and repeat no more than the beginning of a long one', () => {
  assert.throws(() => parse('a=1&a=2&a=3').get('a'), { message: '`a` is given 3 times.' })
  const long = (count: number): string => `${'x'.repeat(count - 1)}%`
  assert.throws(() => parse(long(40)), { message: `"${long(40)}" is not valid percent-encoded UTF-8.` })
  assert.throws(() => parse(long(41)), { message: `"${'x'.repeat(40)}…" is not valid percent-encoded UTF-8.` })
  assert.throws(() => Parameters.parse('a=%', 'invalid-form'), { code: 'invalid-form' })
})

test('empty parts of a query are no parameters', () => {
  for (const text of ['', '&', 'a=1&', '&&a=1&&']) assert.equal(parse(text).has(''), false, text)
})

test('an address without a query has no parameters', () => {
  assert.equal(Parameters.none.has(''), false)
  assert.equal(Parameters.none.get('a'), undefined)
})
