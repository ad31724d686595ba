// Migration from EntryStore: a generated backup in N-Quads with titles, access lists, revisions and files,
// imported with the command that an operator would use. `--quick` generates a small one; BENCH_INPUTS, a regular
// expression, selects sizes by their number of quads.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isQuick } from './support.mjs'

const program = fileURLToPath(new URL('../bin/stowage.js', import.meta.url))
const BASE = 'https://old.example.org/store/'
const ES = 'http://entrystore.org/terms/'
const DCT = 'http://purl.org/dc/terms/'
const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#'
const XSD = 'http://www.w3.org/2001/XMLSchema#'
const PER_CONTEXT = 5000

export async function measure(say) {
  const sizes = isQuick
    ? [{ quads: 20_000, files: 20 }]
    : [
        { quads: 1_000_000, files: 1000 },
        { quads: 5_000_000, files: 50_000 },
      ]
  const chosen = new RegExp(process.env.BENCH_INPUTS ?? '')
  const rows = []
  for (const size of sizes.filter(({ quads }) => chosen.test(String(quads)))) {
    const folder = await mkdtemp(join(tmpdir(), 'stowage-migration-'))
    try {
      const quads = await writeBackup(join(folder, 'backup'), size)
      say(`${quads} quads and ${size.files} files are written`)
      const run = await importInto(join(folder, 'data'), join(folder, 'backup'))
      const rate = quads / run.cpu
      say(
        `imported in ${run.seconds.toFixed(0)} s, ${run.cpu.toFixed(0)} s of CPU: ${say.rate(rate)} and core, ${Math.round(run.memory / 2 ** 20)} MiB`,
      )
      const what = `${quads.toLocaleString('en')} quads, ${size.files.toLocaleString('en')} files`
      rows.push(
        { what: `${what}: quads a second and core`, value: rate, unit: '/s', goal: { least: 20_000 } },
        {
          what: `${what}: peak memory`,
          value: run.memory / 1e6,
          unit: 'MB',
          ...(size.quads <= 1_000_000 ? { goal: { most: 300 } } : {}),
        },
        { what: `${what}: time`, value: run.seconds, unit: 's' },
      )
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
  return { title: 'Moving from EntryStore', rows }
}

/** The kernel counts the peak memory and CPU time of the process. */
async function importInto(data, backup) {
  const begun = performance.now()
  const script = `
    process.argv.splice(1, 1)
    const { main } = await import(${JSON.stringify(fileURLToPath(new URL('../dist/program/main.js', import.meta.url)))})
    const status = await main(process.argv.slice(1))
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
    process.send({ status, cpu: (userCPUTime + systemCPUTime) / 1e6, memory: maxRSS * 1024 })
    process.disconnect()`
  const args = [
    '--input-type=module',
    '-e',
    script,
    '--',
    program,
    'import',
    'entrystore',
    backup,
    '--set',
    `service.data.folder=${data}`,
  ]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const [[result]] = await Promise.all([once(child, 'message'), once(child, 'exit')])
  if (result.status === 2) throw new Error('the import was refused')
  return { ...result, seconds: (performance.now() - begun) / 1000 }
}

/** @returns the number of quads written */
async function writeBackup(folder, { quads: wanted, files }) {
  await mkdir(folder, { recursive: true })
  const stream = createWriteStream(join(folder, 'repository.nq'))
  let count = 0
  let batch = ''
  const iri = name => (/^[a-z]+:/.test(name) ? `<${name}>` : `<${BASE}${name}>`)
  const term = object => (object.startsWith('"') ? object : iri(object))
  const say = (graph, subject, predicate, object) => {
    batch += `${iri(subject)} <${predicate}> ${term(object)} ${iri(graph)} .\n`
    count++
  }
  const flush = async () => {
    if (!stream.write(batch)) await once(stream, 'drain')
    batch = ''
  }
  const entry = (context, id, graphType) => {
    const e = `${context}/entry/${id}`
    const r = context === '_contexts' ? id : `${context}/resource/${id}`
    say(e, e, `${ES}resource`, r)
    say(e, e, `${ES}metadata`, `${context}/metadata/${id}`)
    say(e, e, `${ES}relation`, `${context}/relations/${id}`)
    say(e, e, `${DCT}created`, `"2020-01-02T03:04:05.678Z"^^<${XSD}dateTime>`)
    say(e, e, `${DCT}modified`, `"2021-01-02T03:04:05.678Z"^^<${XSD}dateTime>`)
    say(e, e, `${DCT}creator`, '_principals/resource/_admin')
    say(context === '_contexts' ? '_contexts/resource/_contexts' : context, r, `${ES}resHasMMd`, e)
    if (graphType) say(e, r, `${RDF}type`, ES + graphType)
    return { e, r }
  }
  for (const id of ['_contexts', '_principals']) entry('_contexts', id, 'SystemContext')
  for (const id of ['_guest', '_admin']) entry('_principals', id, 'User')
  for (const id of ['_admins', '_users']) entry('_principals', id, 'Group')
  const isEnough = () => count >= wanted
  for (let n = 0; !isEnough(); n++) {
    const context = String(1 + Math.floor(n / PER_CONTEXT))
    const id = String(1 + (n % PER_CONTEXT))
    if (id === '1') {
      entry('_contexts', context, 'Context')
      await mkdir(join(folder, context))
    }
    const { e, r } = entry(context, id)
    const m = `${context}/metadata/${id}`
    for (let part = 0; part < 8; part++)
      say(m, r, `${DCT}subject`, `"Subject ${part} of entry ${n}, with some words about it"@en`)
    say(m, r, `${DCT}title`, `"Entry ${n}"@en`)
    say(m, r, `${DCT}publisher`, `_principals/resource/_admin`)
    if (n % 3 === 0) say(e, r, `${ES}read`, '_principals/resource/_guest')
    if (n < files) {
      say(e, r, `${DCT}extent`, `"${`file ${n}`.length}"^^<${XSD}long>`)
      say(e, r, `${DCT}format`, '"text/plain"')
      await writeFile(join(folder, context, id), `file ${n}`)
    }
    if (batch.length > 2 ** 20) await flush()
  }
  await flush()
  stream.end()
  await once(stream, 'finish')
  await writeFile(join(folder, 'BACKUP_DATE'), '20240506070809')
  return count
}
