// `node scripts/paths.mjs [--names]`: how many files under src/ take part in the answer to a request, for the paths that
// are named below. A file counts when a function in it runs, by the call counts of V8, in each of two requests after a first one.
import './runtime.mjs'
import { Session } from 'node:inspector/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './prepare.mjs'

const support = path => import(pathToFileURL(join(root, 'test/support', path)).href)
const { ADMIN_PASSWORD, newContext, newEntry, startInProcess } = await support('service.ts')
const { startWithSaml } = await support('saml-service.ts')

// A search runs on a thread of its own, which these counts do not reach: here it runs where the others run.
const readers = await import(pathToFileURL(join(root, 'src/http/readers/heavy-reads.ts')).href).catch(() => undefined)
if (readers) delete readers.heavyReads['/search']

const sources = `${pathToFileURL(join(root, 'src')).href}/`
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

const endings = []
const t = { after: work => endings.push(work), name: 'paths' }

/** The files in which a function ran since the last call. */
async function filesRun() {
  const { result } = await session.post('Profiler.takePreciseCoverage')
  return new Set(
    result
      .filter(({ url, functions }) => url.startsWith(sources) && functions.some(runsLater))
      .map(({ url }) => url.slice(sources.length)),
  )
}

/** True for a function that ran, other than the module itself. */
const runsLater = ({ ranges: [range] }) => range.count > 0 && range.startOffset > 0

async function report(name, request, prepare = async () => undefined) {
  await request(await prepare())
  const seen = []
  for (let round = 0; round < 2; round++) {
    const prepared = await prepare()
    await filesRun()
    const { status } = await request(prepared)
    if (status >= 400) throw new Error(`${name}: ${status}`)
    seen.push(await filesRun())
  }
  const [first, second] = seen
  const files = [...first].filter(file => second.has(file)).sort()
  process.stdout.write(`${name}: ${files.length}\n`)
  if (process.argv.includes('--names')) for (const file of files) process.stdout.write(`  ${file}\n`)
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
process.exit(0)
