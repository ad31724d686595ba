// `node scripts/release/check.mjs vX.Y.Z` fails if the tree is not ready to be released under this tag.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../prepare.mjs'
import { PLACEHOLDER, project } from '../project.mjs'

const [tag = ''] = process.argv.slice(2)
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const problems = []
if (tag !== `v${version}`) problems.push(`The tag must be "v${version}" as in package.json, but is "${tag}".`)
const titles = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').match(/^## \[.*/gm) ?? []
const dated = new RegExp(`^## \\[${version.replaceAll('.', '\\.')}\\] – \\d{4}-\\d{2}-\\d{2}$`)
if (!titles.some(title => dated.test(title)))
  problems.push(`CHANGELOG.md must have the line "## [${version}] – YYYY-MM-DD", but has ${titles.join(', ')}.`)
for (const [name, value] of Object.entries(project))
  if (value.includes(PLACEHOLDER)) problems.push(`The ${name} in package.json is still the placeholder "${value}".`)
for (const problem of problems) process.stderr.write(`${problem}\n`)
process.exit(problems.length > 0 ? 1 : 0)
