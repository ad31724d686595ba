// `npm run build`: everything that operation needs, in dist/.
import './runtime.mjs'
import { installIfMissing, run } from './prepare.mjs'

installIfMissing()
run(process.execPath, ['scripts/build-program.mjs'])
run(process.execPath, ['scripts/build-ui.mjs'])
