// `npm run check`: format, lint, types, generated documents, licences of shipped packages. Stops at the first
// failure.
import './runtime.mjs'
import { join } from 'node:path'
import { buildProgramIfStale, installIfMissing, root, run } from './prepare.mjs'

installIfMissing()
buildProgramIfStale()
const bin = name => join(root, 'node_modules/.bin', name)
run(bin('tsc'), ['-p', 'tsconfig.json', '--noEmit'])
run(bin('tsc'), ['-p', 'ui/tsconfig.json', '--noEmit'])
run(bin('oxlint'), ['--type-aware'])
run(bin('biome'), ['format', '.'])
run(process.execPath, ['scripts/docs.mjs', '--check'])
run(process.execPath, ['scripts/licences.mjs'])
process.stderr.write('Format, lint, types, documents and licences are in order.\n')
