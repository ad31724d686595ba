// `npm run build`: everything that operation needs, in dist/.
import './runtime.mjs'
import { join } from 'node:path'
import { installIfMissing, root, run } from './prepare.mjs'

installIfMissing()
run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json'])
run(process.execPath, ['scripts/build-program.mjs'])
run(process.execPath, ['scripts/build-ui.mjs'])
