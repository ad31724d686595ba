// `npm start`: from a fresh clone to a running service. Arguments after `--` are passed to `stowage serve`.
import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import { buildProgramIfStale, buildUiIfStale, installIfMissing, root } from './prepare.mjs'

installIfMissing()
buildProgramIfStale()
buildUiIfStale('dist/ui')
// npm does not forward a signal that ends it. Without this check the service would keep its port and data
// folder.
const parent = process.ppid
setInterval(() => process.ppid === parent || process.kill(process.pid, 'SIGTERM'), 1000).unref()

const { main } = await import(pathToFileURL(join(root, 'dist/program/main.js')).href)
process.exit(await main(['serve', ...process.argv.slice(2)]))
