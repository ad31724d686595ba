// `node scripts/release/notes.mjs X.Y.Z` prints the section of this version in CHANGELOG.md, as the text of a release.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../prepare.mjs'

const [version] = process.argv.slice(2)
const sections = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^## /m).slice(1)
const section = sections.find(text => text.startsWith(`[${version}]`))
if (section === undefined) {
  process.stderr.write(
    `CHANGELOG.md has no section "## [${version}]". Its sections are ${sections.map(titleOf).join(', ')}.\n`,
  )
  process.exit(1)
}
process.stdout.write(`${section.slice(section.indexOf('\n')).trim()}\n`)

function titleOf(text) {
  return `"## ${text.slice(0, text.indexOf('\n'))}"`
}
