// The reporter of `npm test`: one line of progress, each failure in full when it happens, the names of
// skipped tests, and the totals.
import { relative } from 'node:path'
import { inspect } from 'node:util'

const LINES_APART = 100
const isTerminal = process.stderr.isTTY

export default async function* report(events) {
  const files = new Set()
  const skipped = []
  const running = new Set()
  let passed = 0
  let failed = 0
  const progress = () => `${passed + failed} tests in ${files.size} files, ${failed} failed`
  for await (const { type, data } of events) {
    if (type === 'test:dequeue') running.add(keyOf(data))
    else if (type === 'test:complete') running.delete(keyOf(data))
    else if (type === 'test:pass' || type === 'test:fail') {
      if (isContainer(data)) continue
      if (data.file !== undefined) files.add(data.file)
      if (data.skip !== undefined) skipped.push(`${data.name}${typeof data.skip === 'string' ? ` (${data.skip})` : ''}`)
      if (type === 'test:pass') passed++
      else {
        failed++
        yield* failure(data)
        if (isProcess(data)) yield* [...running].map(key => `  Had begun then: ${key}\n`)
      }
      if (isTerminal) process.stderr.write(`\r\u001b[K${progress()}`)
      else if ((passed + failed) % LINES_APART === 0) yield `${progress()}\n`
    } else if (type === 'test:stderr' || type === 'test:stdout') {
      yield data.message
    } else if (type === 'test:diagnostic' && data.nesting === 0) {
      if (isTerminal) process.stderr.write('\r\u001b[K')
      if (/^tests \d/.test(data.message)) yield* skipped.map(name => `skipped: ${name}\n`)
      yield `ℹ ${data.message}\n`
    }
  }
}

/** A process or a suite (each file is one). Its tests are reported separately, unless it failed without any of them. */
const isContainer = data =>
  (data.details?.type === 'suite' && data.details.error === undefined) ||
  (isProcess(data) && !OF_PROCESS.includes(data.details?.error?.failureType)) ||
  data.details?.error?.failureType === 'subtestsFailed'

/** It ended with an error, or did not end. */
const OF_PROCESS = ['testCodeFailure', 'testTimeoutFailure']

const isProcess = ({ nesting, name, file }) => nesting === 0 && file !== undefined && name.endsWith('.mjs')

const keyOf = ({ name, file, line }) => `${name} (${file}:${line})`

function* failure({ name, file, line, details }) {
  if (isTerminal) process.stderr.write('\r\u001b[K')
  const cause = details?.error?.cause ?? details?.error
  yield `✖ ${name}\n  ${file === undefined ? '' : inSource(`${file}:${line}:1`)}\n`
  yield `${inSource(typeof cause === 'string' ? cause : inspect(cause)).replaceAll(/^/gm, '    ')}\n\n`
}

/** Names files as one would in the repository. */
const inSource = text =>
  text.replaceAll(/(?:file:\/\/|(?<=[\s(]))(\/[^\s:()]+)(?=:\d+:\d+)/g, (_, path) => relative(process.cwd(), path))
