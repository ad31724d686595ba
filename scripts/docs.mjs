// Writes the reference pages that come from tables in the code; with --check, fails when they differ instead.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { configurationReference } from '../dist/config/describe.js'
import { errorReference } from '../dist/http/error-reference.js'
import { withOperationTables } from '../dist/http/interface/tables.js'
import { describedRoutes } from '../dist/http/routes/routes.js'
import { root } from './prepare.mjs'

const interfacePage = 'docs/interface.md'
const pages = {
  'docs/configuration.md': configurationReference(),
  'docs/errors.md': errorReference(),
  // Its tables come from the routes, the text around them is written by hand.
  [interfacePage]: withOperationTables(readFileSync(join(root, interfacePage), 'utf8'), describedRoutes),
}
const check = process.argv.includes('--check')
for (const [path, text] of Object.entries(pages)) {
  const file = join(root, path)
  if (!check) writeFileSync(file, text)
  else if (readFileSync(file, 'utf8') !== text) {
    process.stderr.write(`${path} is not what the code says. Run \`npm run docs\`.\n`)
    process.exitCode = 1
  }
}
