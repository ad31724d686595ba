// `npm test`: installs and builds what is missing, then runs the tests: all of them, and where the servers for it are installed the
// black-box ones once more as many nodes would have it. Arguments choose test files by a part of their path, and STORE, BLOBS and
// TOKENS where things are kept; then they run once.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { buildIfStale, buildUiIfStale, installIfMissing, root } from './prepare.mjs'

installIfMissing()
buildIfStale('tsconfig.build.json', ['src'], 'dist/commands/main.js')
buildIfStale('tsconfig.json', ['src', 'test'], 'build/src/commands/main.js')
buildUiIfStale('dist/ui')
buildUiIfStale('build/src/ui')

const wanted = process.argv.slice(2)
const folder = join(root, 'build/test')
const support = path => import(pathToFileURL(join(folder, 'support/peers', path)))
const all = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter(entry => entry.isFile() && entry.name.endsWith('.test.js'))
  .map(entry => relative(root, join(entry.parentPath ?? entry.path, entry.name)))
// Without a file to run, the test runner would look for some itself.
const unknown = wanted.filter(part => !all.some(file => file.includes(part)))
if (unknown.length > 0) {
  process.stderr.write(`No test file has ${unknown.map(part => `"${part}"`).join(' or ')} in its path.\n`)
  process.exit(2)
}
const SCALED = { STORE: 'postgres', BLOBS: 's3', TOKENS: 'redis' }
const isChosen = wanted.length > 0 || Object.keys(SCALED).some(name => process.env[name] !== undefined)
const isGood = await run(wanted, process.env)
process.exit((isChosen || (await runScaledOut())) && isGood ? 0 : 1)

/** Runs the test files whose path has one of the parts, or all; resolves to whether every test has passed. */
async function run(parts, env) {
  const files = all.filter(file => parts.length === 0 || parts.some(part => file.includes(part))).sort()
  const args = ['--enable-source-maps', '--test', '--test-concurrency=2', '--test-reporter=spec', ...files]
  const endings = []
  const bucket = env['BLOBS'] === 's3' ? await startBucket(endings) : {}
  const tests = spawn(process.execPath, args, {
    cwd: root,
    env: { ...env, ...bucket },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const [code] = await once(tests, 'exit')
  for (const end of endings) await end()
  return code === 0
}

/** The tests that know the service from outside, with rows, files and logins on servers. */
async function runScaledOut() {
  const peers = [
    (await support('postgres.js')).postgres,
    (await support('ceph-gateway.js')).cephGateway,
    (await support('redis.js')).redis,
  ]
  const missing = peers.filter(peer => !peer.available()).map(({ name }) => name)
  if (missing.length > 0) {
    process.stderr.write(`Not run once more as many nodes would have it: there is no ${missing.join(', no ')} here.\n`)
    return process.env['REQUIRE_PEERS'] === undefined
  }
  process.stderr.write('Once more with rows in PostgreSQL, files in S3, logins in Redis.\n')
  return await run(
    ['accounts', 'content', 'files', 'model', 'scenarios', 'search', 'wire'].map(room => join('test', room, '/')),
    {
      ...process.env,
      ...SCALED,
    },
  )
}

/** With BLOBS=s3 every service under test keeps its files in this bucket. */
async function startBucket(endings) {
  const { startCephGateway } = await support('ceph-gateway.js')
  const gateway = await startCephGateway({ after: end => endings.unshift(end) })
  return { ...gateway.env, STOWAGE_TEST_BUCKET: gateway.bucket }
}
