// `npm start`: from a fresh clone to a running service. Arguments after `--` go to `stowage serve`.
import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import { buildIfStale, buildUiIfStale, installIfMissing, root } from './prepare.mjs'

installIfMissing()
buildIfStale('tsconfig.build.json', ['src'], 'dist/commands/main.js')
buildUiIfStale('dist/ui')
// npm does not pass a signal on that ends it: without it, this ends too, instead of holding on to port and data.
const parent = process.ppid
setInterval(() => process.ppid === parent || process.kill(process.pid, 'SIGTERM'), 1000).unref()

const { main } = await import(pathToFileURL(join(root, 'dist/commands/main.js')).href)
process.exit(await main(['serve', ...process.argv.slice(2)]))
