import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTraceContext, traceHeaders } from '../../src/base/trace-context.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

test('a valid traceparent is read, of later versions the part that all have in common', () => {
  const context = { traceId: TRACE, spanId: SPAN, isSampled: true, state: undefined }
  assert.deepEqual(parseTraceContext(`00-${TRACE}-${SPAN}-01`, ''), context)
  assert.deepEqual(parseTraceContext(`00-${TRACE}-${SPAN}-00`, ''), { ...context, isSampled: false })
  // Only the last bit of the flags has a meaning.
  assert.deepEqual(parseTraceContext(`00-${TRACE}-${SPAN}-fe`, ''), { ...context, isSampled: false })
  assert.deepEqual(parseTraceContext(`cc-${TRACE}-${SPAN}-01`, ''), context)
  assert.deepEqual(parseTraceContext(`cc-${TRACE}-${SPAN}-01-what-the-future-brings`, ''), context)
})

const invalid = {
  'without a part': `00-${TRACE}-01`,
  'of version ff': `ff-${TRACE}-${SPAN}-01`,
  'of version 00 with more': `00-${TRACE}-${SPAN}-01-more`,
  'of a later version with more, but no dash': `cc-${TRACE}-${SPAN}-01.more`,
  'with a trace of zeros': `00-${'0'.repeat(32)}-${SPAN}-01`,
  'with a span of zeros': `00-${TRACE}-${'0'.repeat(16)}-01`,
  'with capital letters': `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  'with other letters': `00-${TRACE.replace('4', 'g')}-${SPAN}-01`,
  'with a short trace': `00-${TRACE.slice(1)}-${SPAN}-01`,
  'with short flags': `00-${TRACE}-${SPAN}-1`,
  'sent twice': `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
  'that is empty': '',
}

for (const [what, header] of Object.entries(invalid)) {
  test(`a traceparent ${what} counts as none, and so does its tracestate`, () => {
    assert.equal(parseTraceContext(header, 'a=b'), undefined)
  })
}

test('the headers for the next service are of version 00; a tracestate that no header could carry is left out', () => {
  const read = (state: string) => parseTraceContext(`cc-${TRACE}-${SPAN}-ff-x`, state) ?? assert.fail()
  const traceparent = `00-${TRACE}-${SPAN}-01`
  assert.deepEqual(traceHeaders(read('a=b,c=d')), { traceparent, tracestate: 'a=b,c=d' })
  for (const state of ['', 'a=\u00e4', 'a=\n', `a=${'b'.repeat(511)}`])
    assert.deepEqual(traceHeaders(read(state)), { traceparent })
})
