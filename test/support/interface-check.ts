import assert from 'node:assert/strict'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { operations } from '../../src/http/openapi/document.ts'
import type { Body, Operation, Schema } from '../../src/http/openapi/operation.ts'
import { schemas } from '../../src/http/openapi/schemas.ts'
import type { Answer } from './http-client.ts'

const ajv = new Ajv2020({ strict: false, validateFormats: false })
for (const [name, schema] of Object.entries(schemas)) ajv.addSchema(schema, `#/components/schemas/${name}`)

interface Known {
  readonly method: string
  readonly pattern: RegExp
  readonly operation: Operation
}

/** Addresses without parameters first, as the router has it. */
const known: readonly Known[] = Object.entries(operations)
  .map(([name, operation]) => {
    const [method = '', url = ''] = name.split(' ')
    const pattern = new RegExp(`^${url.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`)
    return { method, url, pattern, operation }
  })
  .sort((a, b) => a.url.split(':').length - b.url.split(':').length)

/** Holds an answer against the description of the interface. @param path with a leading slash */
export function requireDescribed(method: string, path: string, answer: Answer): void {
  const address = path.split('?')[0] ?? ''
  const { operation } = known.find(one => one.method === method && one.pattern.test(address)) ?? {}
  const described = operation?.answers[answer.status]
  const what = `${method} ${address} answered ${answer.status}: ${answer.text.slice(0, 300)}`
  if (answer.status >= 400 && !described) return requireProblem(answer, what)
  if (!operation) return
  assert.ok(described, `the description knows no such status: ${what}`)
  if (answer.bytes.length > 0 && described.body) requireBody(described.body, answer, what)
}

function requireProblem(answer: Answer, what: string): void {
  const type = typeOf(answer)
  if (answer.bytes.length === 0 || type === 'text/html') return
  assert.equal(type, 'application/problem+json', what)
  requireSchema({ $ref: '#/components/schemas/Problem' }, answer, what)
}

function requireBody({ types, schema }: Body, answer: Answer, what: string): void {
  const type = typeOf(answer)
  // JSON that a page asked for as a script.
  if (types.includes('*/*') || (type === 'application/javascript' && types.includes('application/json'))) return
  // A syntax of RDF that was asked for; the page that a browser gets.
  if (!type.endsWith('json') && (types.includes('application/ld+json') || type === 'text/html')) return
  assert.ok(types.includes(type), `the description knows no ${type}: ${what}`)
  if (type === 'application/json') requireSchema(schema, answer, what)
}

function requireSchema(schema: Schema, answer: Answer, what: string): void {
  const isValid = ajv.validate(schema, answer.json<unknown>())
  assert.ok(isValid, `${ajv.errorsText()} in: ${what}`)
}

const typeOf = ({ headers }: Answer): string => (headers['content-type'] ?? '').split(';')[0]?.trim() ?? ''
