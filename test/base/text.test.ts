import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeUtf8, escapeControls, isBlankUtf8 } from '../../src/base/text.ts'
import { InvalidInput } from '../../src/base/errors.ts'

test('bytes are blank if their text is empty or ASCII white space, with or without a byte order mark', () => {
  for (const text of ['', ' ', '\r\n\t\v\f ', '\uFEFF', '\uFEFF \n', ' '.repeat(10_000)])
    assert.equal(isBlankUtf8(Buffer.from(text)), true, JSON.stringify(text.slice(0, 10)))
  for (const text of ['a', '  a', '\uFEFFa', '\u00A0', `${' '.repeat(10_000)}.`])
    assert.equal(isBlankUtf8(Buffer.from(text)), false, JSON.stringify(text.slice(0, 10)))
})

test('text is decoded from UTF-8 only', () => {
  assert.equal(decodeUtf8(Buffer.from('Grüße 😀')), 'Grüße 😀')
  assert.throws(() => decodeUtf8(new Uint8Array([0x61, 0xc3])), { constructor: InvalidInput, code: 'bad-request' })
})

test('control characters are escaped as in JSON, also those of C1 and DEL, which JSON may leave; line breaks and tabs stay', () => {
  const line = JSON.stringify({ name: '\u001b[31m \u007f \u009b31m ä\u00a0\u2028' })
  assert.equal(
    escapeControls(`${line}\n\tä\u0000`),
    `{"name":"\\u001b[31m \\u007f \\u009b31m ä\u00a0\u2028"}\n\tä\\u0000`,
  )
  assert.deepEqual(JSON.parse(escapeControls(line)), JSON.parse(line))
})
