// docs/errors.md, from the table of codes, the routes that declare them, and the texts in the code.
import { readdirSync, readFileSync } from 'node:fs'
import { STATUS_CODES } from 'node:http'
import { join } from 'node:path'
import { errorCodes } from '../../src/base/error-codes.ts'
import { root } from '../prepare.mjs'

const MAX_OPERATIONS = 4

/** @param document that of /openapi.json */
export function errorReference(document) {
  const operations = operationsByCode(document)
  const details = detailsByCode()
  const statuses = [...new Set(Object.values(errorCodes).map(({ status }) => status))].toSorted((a, b) => a - b)
  const sections = statuses.flatMap(status => [
    `## ${status} ${STATUS_CODES[status]}`,
    ...Object.entries(errorCodes)
      .filter(([, error]) => error.status === status)
      .map(([code, error]) => section(code, error, operations.get(code) ?? [], details.get(code))),
  ])
  return `${[introduction, ...sections].join('\n\n')}\n`
}

const introduction = `# Errors

<!-- Generated from src/base/error-codes.ts by \`npm run docs\`. -->

Every error body is \`application/problem+json\` (RFC 9457). \`code\` is stable; a code has one status. \`detail\` is for people, and \`error\`
repeats it for older clients. Further members are named below. A person who visits with a browser gets a page. An example:

\`\`\`json
{"type": "urn:stowage:problem:quota-exceeded", "title": "Quota exceeded", "status": 413, "code": "quota-exceeded",
 "detail": "The context has a quota of 150000000 bytes and holds 100000000; 100000000 more do not fit.", "error": "…",
 "quota": 150000000, "fillLevel": 100000000, "needed": 100000000}
\`\`\`

The \`detail\` of an example below is that of the code, with “…” where a value stands.`

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

/** The longest `detail` that the code has for each code, because it says most. */
function detailsByCode() {
  const found = new Map()
  const folder = join(root, 'src')
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.ts'))) {
    const text = readFileSync(join(folder, file), 'utf8')
    for (const [, code, , plain, template] of text.matchAll(
      /new [A-Z]\w+\(\s*'([a-z-]+)',\s*('((?:[^'\\\n]|\\.)+)'|`((?:[^`\\]|\\.)+)`)(?=\s*[,)])/g,
    )) {
      const detail = (plain ?? template).replaceAll(/\$\{[^}]*\}/g, '…').replaceAll(/\\(.)/g, '$1')
      if (code in errorCodes && detail.length > (found.get(code)?.length ?? 0)) found.set(code, detail)
    }
  }
  return found
}
