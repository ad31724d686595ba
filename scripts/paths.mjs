// `npm run paths [-- --names] [-- --write]`: how many files and lines under src/ take part in the answer to a request, for the paths that are
// named below. A file counts when a function in it runs, by the call counts of V8, in each of two requests after a first one; a line
// counts when it belongs to such a function. --write puts the table into docs/architecture.md.
import './runtime.mjs'
import { readFileSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { root } from './prepare.mjs'

const support = path => import(pathToFileURL(join(root, 'test/support', path)).href)
const { ADMIN_PASSWORD, newContext, newEntry, startInProcess } = await support('service.ts')
const { startWithSaml } = await support('saml-service.ts')

// A search runs on a thread of its own, which these counts do not reach: here it runs where the others run.
const { searchRoutes } = await import(pathToFileURL(join(root, 'src/features/search/routes.ts')).href)
for (const route of searchRoutes) {
  const { bind } = route
  route.bind = services => ({ ...bind(services), heavy: undefined })
}

const sources = `${pathToFileURL(join(root, 'src')).href}/`
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

const endings = []
const t = { after: work => endings.push(work), name: 'paths' }

/** The functions that ran since the last call, other than the modules themselves: for each file their ranges of characters. */
async function functionsRun() {
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const files = new Map()
  for (const { url, functions } of result) {
    if (!url.startsWith(sources)) continue
    const ranges = functions.map(({ ranges: [range] }) => range).filter(({ startOffset }) => startOffset > 0)
    const run = ranges.filter(({ count }) => count > 0)
    if (run.length > 0) files.set(url, { run, idle: ranges.filter(({ count }) => count === 0) })
  }
  return files
}

/** Number of lines of the functions that ran, without those of functions within them that did not. */
function linesOf(url, { run, idle }) {
  const text = readFileSync(fileURLToPath(url), 'utf8')
  const within = (ranges, at) => ranges.filter(({ startOffset, endOffset }) => startOffset <= at && at < endOffset)
  const innermost = ranges => Math.max(-1, ...ranges.map(({ startOffset }) => startOffset))
  let lines = 0
  for (let at = 0, end; at < text.length; at = end + 1) {
    end = text.indexOf('\n', at)
    if (end < 0) end = text.length
    const first = at + text.slice(at, end).search(/\S|$/)
    if (first < end && innermost(within(run, first)) > innermost(within(idle, first))) lines++
  }
  return lines
}

const rows = []

async function report(name, request, prepare = async () => undefined) {
  await request(await prepare())
  const seen = []
  for (let round = 0; round < 2; round++) {
    const prepared = await prepare()
    await functionsRun()
    const { status } = await request(prepared)
    if (status >= 400) throw new Error(`${name}: ${status}`)
    seen.push(await functionsRun())
  }
  const [first, second] = seen
  const files = [...first.keys()].filter(url => second.has(url)).sort((a, b) => (a < b ? -1 : 1))
  const lines = files.reduce((sum, url) => sum + linesOf(url, first.get(url)), 0)
  rows.push({ name, files, lines })
  process.stdout.write(`${name}: ${files.length} files, ${lines} lines\n`)
  if (process.argv.includes('--names')) {
    for (const url of files) process.stdout.write(`  ${url.slice(sources.length)}\n`)
  }
}

const service = await startInProcess(t, { settings: { 'service.data.quota': 'on' } })
const admin = await service.admin()
const context = await newContext(admin)
const about = `${admin.base}${context}/resource/_newId`
const title = { 'http://purl.org/dc/terms/title': [{ type: 'literal', value: 'Ducks', lang: 'en' }] }
const file = await newEntry(admin, context, '', { metadata: { [about]: title } })
const list = await newEntry(admin, context, '?graphtype=list')
let round = 0
const reader = () => [{ type: 'uri', value: `${admin.base}_principals/resource/${round++ % 2 ? '_users' : '_guest'}` }]

await report('sign in', () => service.visitor().signIn('admin', ADMIN_PASSWORD))
await report('current user', () => admin.get('auth/user'))
await report('upload', () =>
  fetch(`${admin.base}${context}/resource/${file}`, {
    method: 'PUT',
    headers: { cookie: `auth_token=${admin.cookie}`, 'content-type': 'text/plain' },
    body: `text ${round++}`,
  }),
)
await report('ACL change', () =>
  admin.put(`${context}/entry/${list}`, {
    [`${admin.base}${context}/entry/${list}`]: { 'http://entrystore.org/terms/read': reader() },
  }),
)
await report('search', () => admin.get('search?type=solr&query=title:ducks'))

const { browser } = await startWithSaml(t)
await report(
  'SAML response',
  ([person, form]) => person.bring(form),
  async () => {
    const person = browser()
    const sent = await person.leave()
    return [person, person.answerTo(sent, { assertionId: `_a${round++}` })]
  },
)
for (const end of endings.reverse()) await end()
if (process.argv.includes('--write')) {
  const path = join(root, 'docs/architecture.md')
  const [start, end] = ['<!-- Generated by `npm run paths -- --write`. -->', '<!-- end of the paths -->']
  const table = [
    '| Path | Files | Lines |',
    '|---|---|---|',
    ...rows.map(({ name, files, lines }) => `| ${name} | ${files.length} | ${lines} |`),
    `| all six | ${new Set(rows.flatMap(({ files }) => files)).size} | |`,
  ]
  const text = readFileSync(path, 'utf8')
  const [before] = text.split(start)
  const [, after] = text.split(end)
  writeFileSync(path, `${before}${start}\n\n${table.join('\n')}\n\n${end}${after}`)
}
process.exit(0)
