// Writes the reference pages that are generated from tables in the code. With --check it compares them
// instead, and fails when they differ.
import './runtime.mjs'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './prepare.mjs'

// Imported here, where the release of Node.js is right: an older one could not even link these.
const { configurationReference } = await import('../src/config/describe.ts')
const { errorReference } = await import('../src/http/error-reference.ts')
const { withOperationTables } = await import('../src/http/interface/tables.ts')
const { describedRoutes } = await import('../src/http/routes/routes.ts')
const { withTests } = await import('../test/support/citations.ts')

const interfacePage = 'docs/interface.md'
const requirementsPage = 'docs/requirements.md'
const pages = {
  'docs/configuration.md': configurationReference(),
  'docs/errors.md': errorReference(),
  // The tables are generated from the routes; the text around them is written by hand.
  [interfacePage]: withOperationTables(readFileSync(join(root, interfacePage), 'utf8'), describedRoutes),
  [requirementsPage]: withTests(readFileSync(join(root, requirementsPage), 'utf8')),
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
