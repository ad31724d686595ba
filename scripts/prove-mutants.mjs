// `npm run prove:mutants -- [module or file …]`: changes the program in small ways, one at a time, and checks that a test fails each time
// (mutation testing). Without a name, all modules of scripts/mutants/modules.mjs. Options:
//   --sample N       only N changes (mutants), drawn evenly at random over what was named
//   --seed S         the seed of that draw; the same seed draws the same ones
//   --minutes M      stops after M minutes; what was tried until then is a sample too
//   --folder F       keeps the work there: the same command goes on with it
//   --concurrency N  test files at a time (1)
// Mutants and their places come from StrykerJS. Its own test runners watch the main thread only; here a mutant in a worker thread or in
// a process that a test starts is noticed as well.
import './runtime.mjs'
import { createHash, randomInt } from 'node:crypto'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { prepareCopy } from './mutants/prepare-copy.mjs'
import { report, describe } from './mutants/report.mjs'
import { moduleOf, modules } from './mutants/modules.mjs'
import { runTestFile } from './mutants/test-file.mjs'
import { installIfMissing, root } from './prepare.mjs'

const COVERAGE = fileURLToPath(new URL('mutants/coverage.cjs', import.meta.url))
/** A test file with a mutant may take this many times as long as without, and a minute more, before it counts as a timeout. */
const SLOWER = 5
const MIN_TIMEOUT = 60_000
/** A test file that takes longer with mutants, though all are off, tries none of them: each one would cost as much. */
const MAX_DURATION = 240_000

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string', default: 'Infinity' },
    seed: { type: 'string', default: String(randomInt(1_000_000)) },
    minutes: { type: 'string', default: 'Infinity' },
    folder: { type: 'string' },
    concurrency: { type: 'string', default: '1' },
  },
})
const named = positionals.length > 0 ? positionals : Object.keys(modules)
const unknown = named.filter(name => modules[name] === undefined && moduleOf(name) === undefined)
if (unknown.length > 0) {
  process.stderr.write(`scripts/mutants/modules.mjs has no module or file ${unknown.join(', ')}.\n`)
  process.exit(2)
}

const deadline = performance.now() + Number(values.minutes) * 60_000
let isInterrupted = false
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => (isInterrupted = true))
const isOver = () => isInterrupted || performance.now() > deadline

installIfMissing()
const work = values.folder ? resolve(values.folder) : mkdtempSync(join(tmpdir(), 'stowage-mutants-'))
if (values.folder) mkdirSync(work, { recursive: true })
else process.on('exit', () => rmSync(work, { recursive: true, force: true }))
chmodSync(work, 0o755)

const paths = named.flatMap(name => modules[name]?.files ?? [name])
const isNamed = ({ path }) => paths.some(wanted => (wanted.endsWith('/') ? path.startsWith(wanted) : path === wanted))
const mutants = (await prepareCopy(work, paths)).filter(isNamed)
const reached = await findReached([...new Set(named.map(name => (modules[name] ? name : moduleOf(name))))])
const drawn = draw()
await atOnce(tryMutants)
const text = report({ mutants, results: read('results'), seed: values.seed })
writeFileSync(join(root, 'build/mutants.md'), text)
process.stdout.write(text)
process.exit(0)

function atOnce(work) {
  return Promise.all(Array.from({ length: Number(values.concurrency) }, work))
}

/** In the order of a hash: the same seed draws the same mutants, and the first ones of them are a sample too. */
function draw() {
  const rank = ({ path, location, mutator, replacement }) =>
    createHash('sha256')
      .update(JSON.stringify([values.seed, path, location, mutator, replacement]))
      .digest('hex')
  const ranked = mutants.map(mutant => ({ ...mutant, rank: rank(mutant) })).sort((a, b) => (a.rank < b.rank ? -1 : 1))
  const tried = new Set(read('results').map(({ id }) => id))
  return ranked.slice(0, Number(values.sample)).filter(({ id }) => !tried.has(id))
}

/** Runs each test file without a mutant, and notes which ones it reaches. */
async function findReached(names) {
  const known = new Set(read('files').map(({ file }) => file))
  const files = testFilesOf(names).filter(file => !known.has(file))
  await atOnce(async () => {
    for (let file = files.shift(); file !== undefined && !isOver(); file = files.shift()) await noteReached(file)
  })
  const reachedBy = new Map()
  for (const { file, ms, isGood, ids } of read('files')) {
    if (!isGood) continue
    for (const id of ids) reachedBy.set(id, [...(reachedBy.get(id) ?? []), { file, ms }])
  }
  return reachedBy
}

async function noteReached(file) {
  const folder = mkdtempSync(join(work, 'reached-'))
  const env = { MUTANTS_REACHED: folder, NODE_OPTIONS: `--require=${COVERAGE}` }
  const { isGood, hasTimedOut, ms } = await runTestFile(work, file, { env, timeout: MAX_DURATION })
  const ids = readdirSync(folder).flatMap(name => readFileSync(join(folder, name), 'utf8').split('\n'))
  rmSync(folder, { recursive: true, force: true })
  note('files', { file, ms, isGood, ids: [...new Set(ids.filter(Boolean))] })
  const reason = hasTimedOut ? 'takes too long' : 'fails'
  const result = isGood ? '' : `, left out: it ${reason} on a program with mutants, though all are off`
  process.stderr.write(`${(ms / 1000).toFixed(1)} s ${file}${result}\n`)
}

async function tryMutants() {
  for (let mutant = drawn.shift(); mutant !== undefined && !isOver(); mutant = drawn.shift()) {
    const result = { id: mutant.id, ...(await tryMutant(mutant)) }
    note('results', result)
    process.stderr.write(`${result.outcome}: ${describe(mutant)}${result.by ? ` (${result.by})` : ''}\n`)
  }
}

/** Runs the tests of the module that reach the mutant, the quickest first, until one fails. */
async function tryMutant({ id, path }) {
  const belonging = new Set(testFilesOf([moduleOf(path)]))
  const tests = (reached.get(id) ?? []).filter(({ file }) => belonging.has(file)).sort((a, b) => a.ms - b.ms)
  if (tests.length === 0) return { outcome: 'not reached' }
  for (const { file, ms } of tests) {
    const env = { __STRYKER_ACTIVE_MUTANT__: id }
    const { isGood, hasTimedOut } = await runTestFile(work, file, { env, timeout: ms * SLOWER + MIN_TIMEOUT })
    if (hasTimedOut) return { outcome: 'timeout', by: file }
    if (!isGood) return { outcome: 'killed', by: file }
  }
  return { outcome: 'survived' }
}

function testFilesOf(names) {
  const parts = names.flatMap(name => modules[name].tests)
  return readdirSync(join(work, 'copy/test'), { recursive: true })
    .filter(path => path.endsWith('.test.ts') && parts.some(part => path.startsWith(part)))
    .sort((a, b) => a.localeCompare(b))
    .map(path => join('test', path))
}

function note(name, value) {
  appendFileSync(join(work, `${name}.jsonl`), `${JSON.stringify(value)}\n`)
}

function read(name) {
  const path = join(work, `${name}.jsonl`)
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : []
  return lines.filter(Boolean).map(line => JSON.parse(line))
}
