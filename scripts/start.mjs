// `npm start`: from a fresh clone to a running service. Arguments after `--` are passed to `stowage serve`.
import './end-with-parent.mjs'
import './runtime.mjs'
import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import { buildProgramIfStale, buildUiIfStale, installIfMissing, root } from './prepare.mjs'

installIfMissing()
buildProgramIfStale()
buildUiIfStale()

const { main } = await import(pathToFileURL(join(root, 'dist/program/main.js')).href)
process.exit(await main(['serve', ...process.argv.slice(2)]))
