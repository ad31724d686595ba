import { type Answer, type Parameter, type Chapter, chapters, type Description, type RouteDefinition } from './route.ts'
import { isDescribed, templateOf, accessOf, refusalsOf } from './document.ts'

/** An operation with this many parameters gets a table of its own. */
const MIN_TABLE = 3

/**
 * docs/interface.md with new tables, which replace everything between `<!-- operations: CHAPTER -->` and
 * `<!-- end -->`.
 * @throws {TypeError} when the page has no place for a chapter with operations
 */
export function withOperationTables(page: string, routes: readonly RouteDefinition[]): string {
  const done = new Set<string>()
  const result = page.replaceAll(
    /(<!-- operations: (.+) -->\n)[^]*?(<!-- end -->)/g,
    (_, begin: string, name: string, end: string) => {
      done.add(name)
      const chapter = chapters.find(known => known === name)
      if (chapter === undefined) throw new TypeError(`There is no chapter "${name}".`)
      return `${begin}\n${operationTables(routes, chapter).trimEnd()}\n\n${end}`
    },
  )
  const missing = chapters.find(chapter => !done.has(chapter))
  if (missing !== undefined) throw new TypeError(`The page has no place for the chapter "${missing}".`)
  return result
}

/** The tables of one chapter of docs/interface.md: its operations, and the parameters of operations with many. */
function operationTables(routes: readonly RouteDefinition[], chapter: Chapter): string {
  const described = routes.filter(isDescribed).filter(({ description }) => description.chapter === chapter)
  const rows = described.map(route =>
    row(
      `${route.method} \`${templateOf(route.url)}\``,
      requestOf(route.description),
      Object.entries(route.description.answers).map(describeAnswerRow).join('; '),
      [...refusalsOf(route)]
        .map(([status, codes]) => [status, ...codes.map(code => `\`${code}\``)].join(' '))
        .join('; '),
    ),
  )
  const tables = described
    .filter(({ description }) => hasTable(description))
    .map(({ method, url, description }) =>
      [
        `Parameters of ${method} \`${templateOf(url)}\`:`,
        '',
        row('Parameter', 'Meaning'),
        row('---', '---').replaceAll(' ', ''),
        ...Object.entries(description.query ?? {}).map(([name, one]) => row(`\`${name}\``, meaningOf(one))),
        '',
      ].join('\n'),
    )
  return [
    row('Operation', 'Request', 'Success', 'Refusals'),
    row('---', '---', '---', '---').replaceAll(' ', ''),
    ...rows,
    '',
    ...tables,
  ].join('\n')
}

const row = (...cells: readonly string[]): string => `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`

const hasTable = ({ query = {} }: Description): boolean => Object.keys(query).length >= MIN_TABLE

function requestOf(description: Description): string {
  const { summary, details, query = {}, body } = description
  const access = accessOf(description)
  const parameters = Object.entries(query)
  const listed = hasTable(description)
    ? 'Parameters below.'
    : parameters.map(([name, one]) => `\`?${name}\`: ${meaningOf(one)}`).join(' ')
  return [
    summary,
    access === undefined ? '' : `For ${access}.`,
    parameters.length === 0 ? '' : listed,
    body === undefined ? '' : bodyOf(body),
    details ?? '',
  ]
    .filter(part => part !== '')
    .join(' ')
}

function bodyOf({ types, schema, example }: NonNullable<Description['body']>): string {
  const properties = (schema.json['properties'] ?? {}) as Readonly<Record<string, unknown>>
  const fields = Object.keys(properties).map(name => `\`${name}\``)
  if (types.includes('application/x-www-form-urlencoded')) return `Form: ${fields.join(', ')}.`
  if (example !== undefined && types[0] === 'application/json') return `Body: \`${JSON.stringify(example)}\`.`
  return fields.length > 0 ? `Body: JSON with ${fields.join(', ')}.` : ''
}

/** The keywords of a parameter's schema that the tables show. */
interface Shown {
  readonly default?: string | number
  readonly enum?: readonly string[]
}

function meaningOf({ description, schema, isRequired }: Parameter<unknown>): string {
  const { default: otherwise, enum: values } = schema as Shown
  const words = values?.filter(value => !['', 'true', 'false'].includes(value)).map(value => `\`${value}\``) ?? []
  return [
    isRequired ? 'Required.' : '',
    description,
    words.length > 0 ? `One of ${words.join(', ')}.` : '',
    otherwise === undefined ? '' : `Default: ${otherwise}.`,
  ]
    .filter(part => part !== '')
    .join(' ')
}

const describeAnswerRow = ([status, { description, content }]: readonly [string, Answer]): string => {
  const type = content?.types.length === 1 && content.types[0] !== 'application/json' ? ` (${content.types[0]})` : ''
  return `${status}: ${description.replace(/\.$/, '')}${type}`
}
