// `npm test`: installs and builds what is missing, then runs the tests. Arguments:
//   PART …     only the files whose path contains one of the parts
//   --rest     only what `npm test` leaves out: other servers, longer proofs, and the black-box tests with PostgreSQL, S3 and Redis
//   --all      both (`npm run test:all`)
//   --times    also prints which files took the most processor time
//   --date=T   on another day, for instance 2036-02-29T23:50Z: faketime moves the clock of the tests, the service and its peers
//   --retry    runs a few processes that failed once more, alone; the run passes if they do, and names them as unsteady
// STORE, BLOBS and TOKENS choose where the service under test keeps things.
import './runtime.mjs'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { writeBatches } from './batches/plan.mjs'
import { buildProgramIfStale, buildUiIfStale, installIfMissing, root } from './prepare.mjs'

installIfMissing()
buildProgramIfStale()
buildUiIfStale()

const SCALED = { STORE: 'postgres', BLOBS: 's3', TOKENS: 'redis' }
/** The modules whose tests know the service from outside. */
const BLACK_BOX = ['accounts', 'content', 'files', 'model', 'scenarios', 'search', 'wire']
/** Test files wait for disks, timers and browsers now and then, so three of them use two cores better than two. */
const AT_ONCE = 3
/** A process reports by itself what it waits for, earlier than this, unless Node.js itself hangs. */
const MAX_RUN_S = 960
const LOOK_MS = 10_000
/** With more failed processes than this, the program is at fault and not the moment. */
const MAX_RETRIES = 3
/** Maximum number of files that `--times` lists. */
const MAX_TIMES = 30
/** Not part of `npm test`, because they start other servers repeatedly. */
const PEERS = join('test', 'peers', '/')

const folder = join(root, 'test')
const support = path => import(pathToFileURL(join(folder, 'support/peers', path)))
const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter(entry => entry.isFile() && entry.name.endsWith('.test.ts'))
  .map(entry => relative(root, join(entry.parentPath, entry.name)))
  .sort()

const options = process.argv.slice(2).filter(argument => argument.startsWith('--'))
const parts = process.argv.slice(2).filter(argument => !argument.startsWith('--'))
// Without a file, the test runner would search for tests itself.
const unknown = [
  ...options.filter(
    option => !['--all', '--rest', '--times', '--retry'].includes(option) && !option.startsWith('--date='),
  ),
  ...parts.filter(part => !files.some(file => file.includes(part))),
]
if (unknown.length > 0) {
  process.stderr.write(`No test file has ${unknown.map(part => `"${part}"`).join(' or ')} in its path.\n`)
  process.exit(2)
}

const runs =
  parts.length > 0
    ? [chosen]
    : options.includes('--all')
      ? [usual, rest]
      : options.includes('--rest')
        ? [rest]
        : [usual]
const date = options.find(option => option.startsWith('--date='))?.slice('--date='.length)
if (date !== undefined && Number.isNaN(Date.parse(date))) {
  process.stderr.write(`"--date=${date}" is no time: write --date=2036-02-29T23:50Z.\n`)
  process.exit(2)
}
const times = options.includes('--times') ? join(mkdtempSync(join(tmpdir(), 'stowage-times-')), 'times') : undefined
if (times) writeFileSync(times, '')
let isGood = true
for (const part of runs) isGood = (await part()) && isGood
if (times) printTimes()
process.exit(isGood ? 0 : 1)

async function chosen() {
  return await run(files.filter(file => parts.some(part => file.includes(part))))
}

async function usual() {
  return await run(files.filter(file => !file.includes(PEERS)))
}

async function rest() {
  const peers = await run(files.filter(file => file.includes(PEERS)))
  const proofs = await run(
    files.filter(file => file.includes(join('test', 'proof', '/'))),
    { PROOFS: 'long' },
  )
  return (await runScaledOut()) && peers && proofs
}

/** Resolves to true when every test of these files has passed. */
async function run(chosenFiles, env = {}) {
  const seed = pathToFileURL(join(folder, 'support/fixed-seed.ts')).href
  const target = mkdtempSync(join(tmpdir(), 'stowage-batches-'))
  const batches = writeBatches(
    chosenFiles.map(file => join(root, file)),
    { tests: folder, target },
  )
  const reporter = pathToFileURL(join(root, 'scripts/progress-reporter.mjs')).href
  const passed = join(target, 'passed')
  const endings = []
  const bucket = (env.BLOBS ?? process.env.BLOBS) === 's3' ? await startBucket(endings) : {}
  const runBatches = async (paths, atOnce) => {
    writeFileSync(passed, '')
    const args = [`--import=${seed}`, '--test', `--test-concurrency=${atOnce}`, `--test-reporter=${reporter}`, ...paths]
    const [command, ...words] = date === undefined ? [process.execPath] : [...onDate(date), process.execPath]
    const tests = spawn(command, [...words, ...args], {
      cwd: root,
      env: {
        // Node.js compiles the sources; each process would do so again.
        NODE_COMPILE_CACHE: join(root, 'build/cache'),
        ...(times ? { STOWAGE_TEST_TIMES: times } : {}),
        STOWAGE_PASSED_BATCHES: passed,
        ...process.env,
        ...env,
        ...bucket,
      },
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    const looks = setInterval(() => killHanging(tests.pid), LOOK_MS)
    const [code] = await once(tests, 'exit')
    clearInterval(looks)
    return code === 0
  }
  let isGood = await runBatches(batches, AT_ONCE)
  const good = new Set(readFileSync(passed, 'utf8').split('\n'))
  const again = batches.filter(path => !good.has(path))
  if (!isGood && options.includes('--retry') && again.length > 0 && again.length <= MAX_RETRIES) {
    process.stdout.write('Once more, alone, what failed.\n')
    isGood = await runBatches(again, 1)
    if (isGood) process.stdout.write('UNSTEADY: the tests above that failed passed the second time. Mend them.\n')
  }
  rmSync(target, { recursive: true })
  for (const end of endings) await end()
  return isGood
}

/** The test runner has no limit for the processes that it starts. */
function killHanging(runner) {
  const { stdout } = spawnSync('ps', ['-o', 'pid=,etimes=,args=', '--ppid', String(runner)], { encoding: 'utf8' })
  for (const line of stdout.split('\n').filter(Boolean)) {
    const [pid, seconds, ...command] = line.trim().split(/\s+/)
    if (Number(seconds) <= MAX_RUN_S) continue
    const path = command.find(word => word.endsWith('.test.mjs'))
    const names = path ? readFileSync(path, 'utf8').match(/[\w/-]+\.test\.ts/g) : command
    process.stderr.write(`Killed after ${seconds} s, because it hangs: ${names.join(', ')}\n`)
    process.kill(Number(pid), 'SIGKILL')
  }
}

/** The command that runs another one with the clock at this time. */
function onDate(time) {
  const seconds = Math.round((Date.parse(time) - Date.now()) / 1000)
  return ['faketime', '-m', '--exclude-monotonic', '-f', `${seconds < 0 ? '' : '+'}${seconds}s`]
}

/** The files with the most processor time, the first of which are worth a look. */
function printTimes() {
  const lines = readFileSync(times, 'utf8').split('\n').filter(Boolean)
  rmSync(join(times, '..'), { recursive: true })
  const rows = lines.map(line => JSON.parse(line)).sort((a, b) => b.cpu - a.cpu)
  const seconds = milliseconds => (milliseconds / 1000).toFixed(1).padStart(7)
  const total = rows.reduce((sum, { cpu }) => sum + cpu, 0)
  process.stdout.write(
    `${seconds(total)} s of processor time in ${rows.length} files\n    CPU s  s from start to end\n`,
  )
  for (const { file, cpu, wall } of rows.slice(0, MAX_TIMES)) {
    process.stdout.write(`  ${seconds(cpu)} ${seconds(wall)}  ${relative(folder, file)}\n`)
  }
}

/** The black-box tests with rows, files and sessions on servers. */
async function runScaledOut() {
  const peers = [
    (await support('postgres.ts')).postgres,
    (await support('ceph-gateway.ts')).cephGateway,
    (await support('redis.ts')).redis,
  ]
  const missing = peers.filter(peer => !peer.available()).map(({ name }) => name)
  if (missing.length > 0) {
    process.stderr.write(`The tests were not run on several servers: there is no ${missing.join(', no ')} here.\n`)
    return process.env.REQUIRE_PEERS === undefined
  }
  process.stderr.write('The black-box tests once more, with rows in PostgreSQL, files in S3 and logins in Redis.\n')
  return await run(
    files.filter(file => BLACK_BOX.some(module => file.includes(join('test', module, '/')))),
    SCALED,
  )
}

/** With BLOBS=s3 every service under test stores its files in this bucket. */
async function startBucket(endings) {
  const { startCephGateway } = await support('ceph-gateway.ts')
  const gateway = await startCephGateway({ after: end => endings.unshift(end) })
  return { ...gateway.env, STOWAGE_TEST_BUCKET: gateway.bucket }
}
