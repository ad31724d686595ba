import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../prepare.mjs'
import { NODE } from '../runtime.mjs'

/** What is shipped, as a CycloneDX document, made by npm from the installed packages. `withNode` adds Node.js. */
export function billOfMaterials(source, { withNode = false } = {}) {
  const text = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--offline'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 2 ** 20,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const document = JSON.parse(text)
  delete document.serialNumber
  document.metadata.timestamp = new Date(source.time * 1000).toISOString()
  // npm names the package after its folder, and records the registry of each package.
  document.metadata.component.name = 'stowage'
  document.components = document.components.map(({ externalReferences = [], ...component }) => ({
    ...component,
    externalReferences: externalReferences.filter(({ type }) => type !== 'distribution'),
  }))
  const node = { type: 'application', name: 'node', version: NODE, purl: `pkg:generic/node@${NODE}` }
  if (withNode) document.components.push({ 'bom-ref': `node@${NODE}`, ...node })
  return document
}

/** Writes a bill of materials beside each package. */
export function writeBills(source, release, names) {
  for (const name of names) {
    const document = billOfMaterials(source, { withNode: !name.endsWith('.tgz') })
    writeFileSync(join(release, `${name}.cdx.json`), `${JSON.stringify(document, null, 2)}\n`)
  }
}

/** Writes SHA256SUMS, for `sha256sum --check`. */
export function writeChecksums(release) {
  const names = readdirSync(release).sort()
  const line = name =>
    `${createHash('sha256')
      .update(readFileSync(join(release, name)))
      .digest('hex')}  ${name}\n`
  writeFileSync(join(release, 'SHA256SUMS'), names.map(line).join(''))
}
