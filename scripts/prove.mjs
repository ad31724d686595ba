// `npm run prove:…`: the proofs of test/proof at any length; arguments go to test/proof/main.ts.
import './runtime.mjs'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { buildIfStale, buildProgramIfStale, installIfMissing, root } from './prepare.mjs'

installIfMissing()
buildProgramIfStale()
buildIfStale('tsconfig.json', ['src', 'test'], 'build/src/commands/main.js')
const main = join(root, 'build/test/proof/main.js')
const proof = spawn(process.execPath, ['--enable-source-maps', main, ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
})
proof.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)))
