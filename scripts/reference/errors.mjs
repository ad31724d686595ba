// docs/errors.md, from the table of codes, the routes that declare them, and the texts in the code.
import { readdirSync, readFileSync } from 'node:fs'
import { STATUS_CODES } from 'node:http'
import { join } from 'node:path'
import { errorCodes } from '../../src/base/error-codes.ts'
import { root } from '../prepare.mjs'

const MAX_OPERATIONS = 4

/** The statuses that RFC 9110 does not name. */
const otherStatuses = { 460: 'Checksum Mismatch' }

/**
 * How the `detail` begins that a client is most likely to get, for codes whose longest text is about a rare case. A value in the text is
 * written as "…".
 */
const typicalDetails = {
  'access-token-scope': 'This access token',
  'bad-request': 'The body is not valid UTF-8',
  'body-too-large': 'The body may have at most',
  conflict: 'One of the entries is in another list',
  'current-password-wrong': 'The current password is wrong',
  'graph-too-large': 'Written out',
  'host-refused': 'Nothing is fetched from',
  'id-taken': 'The id "…" is taken',
  'invalid-form': 'The field `…` is missing',
  'invalid-graph': 'The body is not …: …',
  'invalid-json': 'The body does not have the expected form',
  'invalid-member': 'There is no entry "…"',
  'invalid-name': 'Names that begin with _',
  'invalid-query': 'The field "…" cannot be searched',
  'invalid-type': 'Only a local entry of graph type None',
  'invalid-uri': 'The parameter `…` must be an absolute URI',
  'no-file': 'This entry has no file',
  'not-allowed': 'You may not ….',
  'not-available': 'The proxy is switched off',
  'not-found': 'There is no entry "…" in context',
  'not-signed-in': 'Sign in to ….',
  'unknown-idp': 'There is no provider "…"',
  'unsupported-type': 'The body must be …',
}

/** @param document that of /openapi.json */
export function errorReference(document) {
  const operations = operationsByCode(document)
  const details = detailsByCode()
  const statuses = [...new Set(Object.values(errorCodes).map(({ status }) => status))].toSorted((a, b) => a - b)
  const sections = statuses.flatMap(status => [
    `## ${status} ${STATUS_CODES[status] ?? otherStatuses[status]}`,
    ...Object.entries(errorCodes)
      .filter(([, error]) => error.status === status)
      .map(([code, error]) => section(code, error, operations.get(code) ?? [], details.get(code))),
  ])
  return `${[introduction, ...sections].join('\n\n')}\n`
}

const introduction = `# Errors

<!-- Generated from the tables of error codes by \`npm run docs\`. -->

The body of every error is \`application/problem+json\` (RFC 9457). Programs read \`code\`, which is stable and has one status. \`detail\` is a
text for people, and \`error\` repeats it for clients of EntryStore. Some codes have more members, which their sections below name. A person
who visits with a browser gets a page instead. An example:

\`\`\`json
{"type": "urn:stowage:problem:quota-exceeded", "title": "Quota exceeded", "status": 413, "code": "quota-exceeded",
 "detail": "The context has a quota of 150000000 bytes and holds 100000000; 100000000 more do not fit.", "error": "…",
 "quota": 150000000, "fillLevel": 100000000, "needed": 100000000, "missing": 50000000, "unit": "bytes", "owner": "context",
 "ownerId": "photos"}
\`\`\`

Most sections show one \`detail\` as an example, with “…” in place of values; most codes have several.`

function section(code, { title, help }, operations, detail) {
  const more = operations.length - MAX_OPERATIONS
  const listed = operations.slice(0, MAX_OPERATIONS).map(operation => `\`${operation}\``)
  const where = `Returned by ${listed.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`
  return [
    `### \`${code}\``,
    `**${title}.** ${help}${operations.length > 0 ? ` ${where}` : ''}`,
    ...(detail === undefined ? [] : [`> ${detail}`]),
  ].join('\n\n')
}

/** The operations that declare a code, by code. */
function operationsByCode({ paths }) {
  const found = new Map()
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { responses }] of Object.entries(methods)) {
      for (const code of Object.values(responses).flatMap(response => response['x-codes'] ?? [])) {
        found.set(code, [...(found.get(code) ?? []), `${method.toUpperCase()} ${path}`])
      }
    }
  }
  return found
}

/** A typical `detail` of each code, or the longest text, because it says most. */
function detailsByCode() {
  const found = new Map()
  const folder = join(root, 'src')
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.ts'))) {
    const text = readFileSync(join(folder, file), 'utf8')
    for (const [, code, , plain, template] of text.matchAll(
      /new [A-Z]\w+\(\s*'([a-z-]+)',\s*('((?:[^'\\\n]|\\.)+)'|`((?:[^`\\]|\\.)+)`)(?=\s*[,)])/g,
    )) {
      const detail = (plain ?? template).replaceAll(/\$\{[^}]*\}/g, '…').replaceAll(/\\(.)/g, '$1')
      if (code in errorCodes) found.set(code, [...(found.get(code) ?? []), detail])
    }
  }
  return new Map([...found].map(([code, details]) => [code, typicalOf(code, details)]))
}

function typicalOf(code, details) {
  const beginning = typicalDetails[code]
  const fitting = beginning === undefined ? details : details.filter(detail => detail.startsWith(beginning))
  if (fitting.length === 0) throw new Error(`No text of ${code} begins with "${beginning}".`)
  return fitting.toSorted((a, b) => b.length - a.length || (a < b ? -1 : 1))[0]
}
