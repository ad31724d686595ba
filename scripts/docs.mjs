// Writes the reference pages that come from tables in the code; with --check, fails when they differ instead.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { configurationReference } from '../dist/config/describe.js'
import { errorReference } from '../dist/http/error-reference.js'
import { root } from './prepare.mjs'

const pages = { 'docs/configuration.md': configurationReference(), 'docs/errors.md': errorReference() }
const check = process.argv.includes('--check')
for (const [path, text] of Object.entries(pages)) {
  const file = join(root, path)
  if (!check) writeFileSync(file, text)
  else if (readFileSync(file, 'utf8') !== text) {
    process.stderr.write(`${path} is not what the code says. Run \`npm run docs\`.\n`)
    process.exitCode = 1
  }
}
