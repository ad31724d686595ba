// `npm start` and `npm run demo`: from a fresh clone to a running service. Arguments after `--` are passed to `stowage serve` or `stowage demo`.
import './end-with-parent.mjs'
import './runtime.mjs'
import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import { buildProgramIfStale, buildUiIfStale, installIfMissing, root } from './prepare.mjs'

installIfMissing()
buildProgramIfStale()
buildUiIfStale()

const { main } = await import(pathToFileURL(join(root, 'dist/program/main.js')).href)
const [first, ...others] = process.argv.slice(2)
process.exit(await main(first === 'demo' ? ['demo', ...others] : ['serve', ...process.argv.slice(2)]))
