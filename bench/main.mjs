// `npm run bench` runs every part, or the named ones (`npm run bench -- auth`), each in its own process.
// Results are medians of ratios within one run with interleaved rounds; absolute numbers depend on the
// machine. The report goes to bench/report/.
import '../scripts/runtime.mjs'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { buildProgramIfStale, installIfMissing, root } from '../scripts/prepare.mjs'
import { write } from './report.mjs'

const PARTS = [
  'auth',
  'logins',
  'saml',
  'files',
  'uploads',
  'transfers',
  'operations',
  'entries',
  'start',
  'pages',
  'lists',
  'search',
  'migration',
  'backup',
  'stalls',
  'scaled',
  'cores',
  'million',
]

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    entries: { type: 'string' },
    postgres: { type: 'boolean', default: false },
  },
})
const unknown = positionals.filter(part => !PARTS.includes(part))
if (unknown.length > 0) {
  process.stderr.write(`There is no part ${unknown.join(', ')}. Parts: ${PARTS.join(', ')}.\n`)
  process.exit(2)
}
installIfMissing()
buildProgramIfStale()

const folder = join(root, 'bench/report')
mkdirSync(folder, { recursive: true })
for (const part of PARTS) {
  if (positionals.length === 0 || positionals.includes(part)) writeFileSync(kept(part), JSON.stringify(await run(part)))
}
const results = PARTS.map(read).filter(result => result !== undefined && result.rows.length > 0)
write(folder, results)
process.stderr.write('The report is in bench/report/benchmarks.md.\n')

function kept(part) {
  return join(folder, `${part}.json`)
}

/** The result of a part, from this or an earlier run. */
function read(part) {
  try {
    return JSON.parse(readFileSync(kept(part), 'utf8'))
  } catch {
    return undefined
  }
}

async function run(part) {
  const begun = performance.now()
  process.stderr.write(`${part} …\n`)
  const child = fork(fileURLToPath(new URL('./part.mjs', import.meta.url)), [
    part,
    ...(values.quick ? ['--quick'] : []),
    ...(values.entries === undefined ? [] : ['--entries', values.entries]),
    ...(values.postgres ? ['--postgres'] : []),
  ])
  const [[result]] = await Promise.all([once(child, 'message'), once(child, 'exit')])
  const seconds = Math.round((performance.now() - begun) / 1000)
  return { ...result, seconds }
}
