// Writes the reference pages that are generated from tables in the code. With --check it compares them
// instead, and fails when they differ.
import './runtime.mjs'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './prepare.mjs'

// Imported here, where the release of Node.js is right: an older one could not even link these.
const { describePaths, openApiDocument } = await import('../src/http/interface/document.ts')
const { describedRoutes } = await import('../src/http/routes/routes.ts')
const { withTests } = await import('../test/support/citations.ts')
const { configurationReference } = await import('./reference/configuration.mjs')
const { errorReference } = await import('./reference/errors.mjs')
const { withOperations } = await import('./reference/interface.mjs')

const read = path => readFileSync(join(root, path), 'utf8')
const document = openApiDocument(describePaths(describedRoutes), { version: '', base: '/', cookie: 'auth_token' })
const pages = {
  'docs/configuration.md': configurationReference(),
  'docs/errors.md': errorReference(document),
  // Parts of these are generated; the text around them is written by hand.
  'docs/interface.md': withOperations(read('docs/interface.md'), document),
  'docs/requirements.md': withTests(read('docs/requirements.md')),
}
const check = process.argv.includes('--check')
for (const [path, text] of Object.entries(pages)) {
  if (!check) writeFileSync(join(root, path), text)
  else if (read(path) !== text) {
    process.stderr.write(`${path} is not what the code says. Run \`npm run docs\`.\n`)
    process.exitCode = 1
  }
}
