// `npm run prove:…`: the proofs of test/proof at any length; arguments go to test/proof/main.ts.
import './runtime.mjs'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { buildProgramIfStale, buildUiIfStale, installIfMissing, root } from './prepare.mjs'

installIfMissing()
buildProgramIfStale()
buildUiIfStale()
const main = join(root, 'test/proof/main.ts')
const proof = spawn(process.execPath, [main, ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
})
proof.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)))
