import assert from 'node:assert/strict'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Content } from '../../src/http/interface/bodies.ts'
import {
  describePaths,
  isDescribed,
  Problem,
  problemTypes,
  refusalsOf,
  refusalTypes,
} from '../../src/http/interface/document.ts'
import type { ErrorStatus } from '../../src/base/error-text.ts'
import type { JsonSchema } from '../../src/http/interface/schema.ts'
import { allRoutes } from '../../src/assembly/routes.ts'
import type { Answer } from './http-client.ts'

const ajv = new Ajv2020({ strict: false, validateFormats: false })
for (const [name, schema] of Object.entries(describePaths(allRoutes).schemas)) {
  ajv.addSchema(schema, `#/components/schemas/${name}`)
}

/** Addresses without parameters first, as the router has it; of one address first the route that a query parameter selects. */
const known = allRoutes
  .filter(isDescribed)
  .map(route => {
    const pattern = new RegExp(`^${route.url.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`)
    return { ...route, pattern, refusals: refusalsOf(route) }
  })
  .sort((a, b) => a.url.split(':').length - b.url.split(':').length || Number(!a.parameter) - Number(!b.parameter))

/** Refusals that any operation may answer with. */
const general: readonly number[] = [400, 401, 403, 404, 405, 429, 500, 503, 507]

/** What a proxy in front answers by itself while a node is away. */
const ofProxies: readonly number[] = [502, 504]

/** Checks an answer against the description of the interface. @param path with a leading slash */
export function requireDescribed(method: string, path: string, answer: Answer): void {
  if (ofProxies.includes(answer.status) && typeOf(answer) === 'text/html') return
  const address = path.split('?')[0] ?? ''
  const meant = method === 'POST' ? (/[?&]method=(put|delete)\b/i.exec(path)?.[1]?.toUpperCase() ?? method) : method
  const isSelected = ({ parameter }: (typeof known)[number]): boolean =>
    parameter === undefined || new RegExp(`[?&]${parameter}(=|&|$)`).test(path)
  const route = known.find(one => one.method === meant && one.pattern.test(address) && isSelected(one))
  const what = `${method} ${address} answered ${answer.status}: ${answer.text.slice(0, 300)}`
  const described = route?.description.answers[answer.status]
  if (answer.status >= 400 && !described) {
    if (route) {
      const isDeclared = route.refusals.has(answer.status as ErrorStatus) || general.includes(answer.status)
      assert.ok(isDeclared, `the description has no such refusal: ${what}`)
    }
    return requireProblem(answer, route ? refusalTypes(route) : undefined, what)
  }
  if (!route) return
  assert.ok(described, `the description has no such status: ${what}`)
  if (answer.bytes.length > 0 && described.content) requireBody(described.content, answer, what)
}

function requireProblem(answer: Answer, types: readonly string[] | undefined, what: string): void {
  const type = typeOf(answer)
  // HEAD has no body; addresses that no route has may answer people with a page.
  if (answer.bytes.length === 0 || (types === undefined && type === 'text/html')) return
  assert.ok((types ?? problemTypes).includes(type), `the description has no ${type}: ${what}`)
  if (type !== 'text/html') requireSchema(Problem.json, answer, what)
}

function requireBody({ types, schema }: Content, answer: Answer, what: string): void {
  const type = typeOf(answer)
  // JSON that a page asked for as a script.
  if (types.includes('*/*') || (type === 'application/javascript' && types.includes('application/json'))) return
  // The page that a browser gets where a program gets JSON.
  if (type === 'text/html') return
  assert.ok(types.includes(type), `the description has no ${type}: ${what}`)
  if (type === 'application/json') requireSchema(schema.json, answer, what)
}

function requireSchema(schema: JsonSchema, answer: Answer, what: string): void {
  const isValid = ajv.validate(schema, answer.json<unknown>())
  assert.ok(isValid, `${ajv.errorsText()} in: ${what}`)
}

const typeOf = ({ headers }: Answer): string => (headers['content-type'] ?? '').split(';')[0]?.trim() ?? ''
