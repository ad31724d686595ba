// The operations in docs/interface.md, from the same document as /openapi.json.
import { chapters } from '../../src/http/interface/route.ts'

const MAX_INLINE = 60
const PLACE = /(<!-- operations -->\n)[^]*(<!-- end -->)/

/** docs/interface.md with new sections between `<!-- operations -->` and `<!-- end -->`. */
export function withOperations(page, document) {
  if (!PLACE.test(page)) throw new TypeError('docs/interface.md has no place for the operations.')
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
  )
  const sections = chapters.flatMap(chapter => [
    `## ${chapter}`,
    ...operations.filter(({ tags }) => tags.includes(chapter)).map(sectionOf),
  ])
  const schemas = Object.entries(document.components.schemas).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const parts = [...sections, '## Schemas', ...schemas.map(schemaSection)]
  return page.replace(PLACE, (_, begin, end) => `${begin}\n${parts.join('\n\n')}\n\n${end}`)
}

function sectionOf({ path, method, summary, description, parameters, requestBody, responses }) {
  const own = parameters.filter(({ $ref, name }) => $ref === undefined && !['context', 'entry'].includes(name))
  const headers = own.filter(one => one.in === 'header')
  const rest = own.filter(one => one.in !== 'header')
  return [
    `### ${method} \`${path}\``,
    summary,
    description?.replace(/^For: (.+)$/m, (_, who) => `**Permitted:** ${who}`),
    rest.length > 0 ? table(['Parameter', 'Type', 'Meaning'], rest.map(parameterRow)) : undefined,
    headers.length > 0 ? `**Conditions:** ${headers.map(({ name }) => `\`${name}\``).join(', ')}.` : undefined,
    requestBody && bodyOf(requestBody),
    table(['Status', 'Response'], responseRows(responses)),
  ]
    .filter(part => part !== undefined)
    .join('\n\n')
}

const parameterRow = ({ name, required, schema, description }) => [
  `\`${name}\``,
  `${typeOf(schema)}${required ? ', required' : ''}`,
  [description, schema.default === undefined ? '' : `Default: ${schema.default}.`].filter(Boolean).join(' '),
]

function bodyOf({ required, content }) {
  const [[, { schema, example }]] = Object.entries(content)
  const types = Object.keys(content).map(type => `\`${type}\``)
  return [
    `**Body** (${required ? '' : 'optional; '}${types.join(', ')}):`,
    isPlain(schema) ? undefined : shapeBlock(schema),
    example === undefined || !Object.keys(content)[0].includes('json')
      ? undefined
      : `Example:\n\n\`\`\`json\n${JSON.stringify(example)}\n\`\`\``,
  ]
    .filter(part => part !== undefined)
    .join('\n\n')
}

/** A row for each response, and one for each status of errors with its codes. */
function responseRows(responses) {
  return Object.entries(responses)
    .filter(([status]) => status !== 'default')
    .map(([status, response]) => {
      const codes = response['x-codes']
      if (codes) return [status, codes.map(code => `[\`${code}\`](errors.md#${code})`).join(', ')]
      const [[type, { schema } = {}] = []] = Object.entries(response.content ?? {})
      const shown = type === 'application/json' ? typeOf(schema) : type && `\`${type}\``
      return [status, shown ? `${response.description} ${shown}` : response.description]
    })
}

const isPlain = schema => ['string', undefined].includes(schema.type) && schema.$ref === undefined

const schemaSection = ([name, schema]) =>
  [`### ${name}`, schema.description, isPlain(schema) ? undefined : shapeBlock(schema)]
    .filter(part => part !== undefined)
    .join('\n\n')

const shapeBlock = schema => (schema.$ref === undefined ? `\`\`\`ts\n${shapeOf(schema, '')}\n\`\`\`` : linkTo(schema))

const nameOf = ({ $ref }) => $ref.slice($ref.lastIndexOf('/') + 1)
const linkTo = schema => `[${nameOf(schema)}](#${nameOf(schema).toLowerCase()})`

/** A type for a cell of a table: a link to a schema, or a short form. */
function typeOf(schema) {
  if (schema.$ref !== undefined) return linkTo(schema)
  const shape = shapeOf(schema, '')
  return `\`${shape.includes('\n') || (shape.length > MAX_INLINE && schema.enum === undefined) ? summaryOf(schema) : shape}\``
}

const summaryOf = ({ type, properties }) =>
  properties === undefined ? (type ?? 'any') : `{ ${Object.keys(properties).join(', ')} }`

/** A schema in the notation of TypeScript. */
function shapeOf(schema, indent) {
  const { $ref, enum: values, type, items, properties, required = [], additionalProperties, anyOf } = schema
  if ($ref !== undefined) return nameOf(schema)
  if (values) return values.map(value => (value === '' ? 'no value' : JSON.stringify(value))).join(' | ')
  if (anyOf) return anyOf.map(one => shapeOf(one, indent)).join(' | ')
  if (Array.isArray(type)) return type.join(' | ')
  if (type === 'array') return `Array<${shapeOf(items, indent)}>`
  if (type !== 'object') return schema.format ?? type ?? 'any'
  if (properties === undefined) return `{ [name]: ${shapeOf(additionalProperties ?? {}, indent)} }`
  const inner = `${indent}  `
  const members = Object.entries(properties).map(
    ([name, member]) => `${inner}${name}${required.includes(name) ? '' : '?'}: ${shapeOf(member, inner)}`,
  )
  const others = additionalProperties === false ? [] : [`${inner}[name]: any`]
  return `{\n${[...members, ...others].join('\n')}\n${indent}}`
}

const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows]
    .map(cells => `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n')
