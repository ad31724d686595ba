// `npm test`: installs and builds what is missing, then runs the tests. Arguments choose test files by a part of their path.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { buildIfStale, buildUiIfStale, installIfMissing, root } from './prepare.mjs'

installIfMissing()
buildIfStale('tsconfig.build.json', ['src'], 'dist/main.js')
buildIfStale('tsconfig.json', ['src', 'test'], 'build/src/main.js')
buildUiIfStale('dist/ui')
buildUiIfStale('build/src/ui')

const wanted = process.argv.slice(2)
const folder = join(root, 'build/test')
const all = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter(entry => entry.isFile() && entry.name.endsWith('.test.js'))
  .map(entry => relative(root, join(entry.parentPath ?? entry.path, entry.name)))
// Without a file to run, the test runner would look for some itself.
const unknown = wanted.filter(part => !all.some(file => file.includes(part)))
if (unknown.length > 0) {
  process.stderr.write(`No test file has ${unknown.map(part => `"${part}"`).join(' or ')} in its path.\n`)
  process.exit(2)
}
const files = all.filter(file => wanted.length === 0 || wanted.some(part => file.includes(part))).sort()
const args = ['--enable-source-maps', '--test', '--test-concurrency=2', '--test-reporter=spec', ...files]
const endings = []
const env = process.env['BLOBS'] === 's3' ? { ...process.env, ...(await startBucket()) } : process.env
const tests = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] })
const [code, signal] = await once(tests, 'exit')
for (const end of endings) await end()
process.exit(signal ? 1 : (code ?? 1))

/** With BLOBS=s3 every service under test keeps its files in this bucket. */
async function startBucket() {
  const { startCephGateway } = await import(pathToFileURL(join(folder, 'support/peers/ceph-gateway.js')))
  const gateway = await startCephGateway({ after: end => endings.unshift(end) })
  return { ...gateway.env, STOWAGE_TEST_BUCKET: gateway.bucket }
}
