// `npm run sbom`: what is shipped, as a CycloneDX document on standard output; by npm itself, from what is installed.
import { execFileSync } from 'node:child_process'
import { root } from './prepare.mjs'

const text = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--offline'], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 64 * 2 ** 20,
  stdio: ['ignore', 'pipe', 'inherit'],
})
const document = JSON.parse(text)
// npm calls the package by the folder that it lies in, and notes from which registry each one came.
document.metadata.component.name = 'stowage'
for (const component of document.components) {
  component.externalReferences = component.externalReferences?.filter(({ type }) => type !== 'distribution')
}
process.stdout.write(`${JSON.stringify(document, null, 2)}\n`)
