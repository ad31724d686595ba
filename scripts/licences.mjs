// Every shipped package must have a licence that is compatible with Apache-2.0.
import './runtime.mjs'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './prepare.mjs'

const accepted = new Set(['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD', 'BlueOak-1.0.0', 'MIT-0'])
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
const shipped = Object.entries(lock.packages).filter(([path, entry]) => path !== '' && !entry.dev)
const refused = shipped.filter(([, { license = '' }]) => {
  const choices = license.replaceAll(/[()]/g, '').split(' OR ')
  return !choices.some(choice => choice.split(' AND ').every(one => accepted.has(one)))
})
for (const [path, { license }] of refused) process.stderr.write(`${path}: licence ${license ?? 'unknown'}\n`)
process.stderr.write(`${shipped.length} packages are shipped, ${refused.length} with a licence that is not accepted.\n`)
process.exitCode = refused.length === 0 ? 0 : 1
