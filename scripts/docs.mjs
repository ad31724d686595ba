// Writes the reference pages that are generated from tables in the code. With --check it compares them
// instead, and fails when they differ.
import './runtime.mjs'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './prepare.mjs'

// Imported here, where the release of Node.js is right: an older one could not even link these.
const { describePaths, openApiDocument } = await import('../src/http/interface/document.ts')
const { allRoutes } = await import('../src/assembly/routes.ts')
const { withTests } = await import('../test/support/citations.ts')
const { configurationReference } = await import('./reference/configuration.mjs')
const { errorReference } = await import('./reference/errors.mjs')
const { withFeatures } = await import('./reference/features.mjs')
const { withOperations } = await import('./reference/interface.mjs')

const read = path => readFileSync(join(root, path), 'utf8')
const document = openApiDocument(describePaths(allRoutes), { version: '', base: '/', cookie: 'auth_token' })
const pages = {
  'docs/configuration.md': configurationReference(),
  'docs/errors.md': errorReference(document),
  // Parts of these are generated; the text around them is written by hand.
  'docs/architecture.md': withFeatures(read('docs/architecture.md')),
  'docs/interface.md': withOperations(read('docs/interface.md'), document),
  'docs/requirements.md': withTests(read('docs/requirements.md')),
}
// The addresses of the project stand in many documents.
const { withProject } = await import('./project.mjs')
const documents = execFileSync('git', ['ls-files', '-z', '*.md', '.github', 'deploy'], { cwd: root, encoding: 'utf8' })
for (const path of documents.split('\0').filter(Boolean)) pages[path] = withProject(pages[path] ?? read(path))

const check = process.argv.includes('--check')
for (const [path, text] of Object.entries(pages)) {
  if (!check) writeFileSync(join(root, path), text)
  else if (read(path) !== text) {
    process.stderr.write(`${path} is not what the code says. Run \`npm run docs\`.\n`)
    process.exitCode = 1
  }
}
