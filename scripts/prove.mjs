// `npm run prove:…`: the proofs of test/proof at any length; arguments go to test/proof/main.ts. `--threads N` lets the service answer
// with N threads.
import './runtime.mjs'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { buildIfStale, buildProgramIfStale, installIfMissing, root } from './prepare.mjs'

installIfMissing()
buildProgramIfStale()
buildIfStale('tsconfig.json', ['src', 'test'], 'build/src/commands/main.js')
const main = join(root, 'build/test/proof/main.js')
const args = process.argv.slice(2)
const at = args.indexOf('--threads')
const [, threads] = at < 0 ? [] : args.splice(at, 2)
const proof = spawn(process.execPath, ['--enable-source-maps', main, ...args], {
  cwd: root,
  env: threads === undefined ? process.env : { ...process.env, THREADS: threads },
  stdio: 'inherit',
})
proof.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)))
