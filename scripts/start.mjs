// `npm start`: from a fresh clone to a running service. Arguments after `--` go to `stowage serve`.
import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import { buildIfStale, installIfMissing, root } from './prepare.mjs'

installIfMissing()
buildIfStale('tsconfig.build.json', ['src'], 'dist/main.js')
const { main } = await import(pathToFileURL(join(root, 'dist/main.js')).href)
process.exit(await main(['serve', ...process.argv.slice(2)]))
