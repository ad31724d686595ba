// Uploads and downloads, compared with the simplest possible pipeline; small files also in an empty and in a
// full context.
import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newEntry } from '../src/model/entry.ts'
import { insertEntry } from './entries-in-store.mjs'
import { putFile } from '../src/files/file-records.ts'
import { openSqliteDatabase } from '../src/stores/sqlite/sqlite-database.ts'
import { sql } from '../src/stores/sql.ts'
import { load, request } from './load.mjs'
import {
  ask,
  interleave,
  isQuick,
  medianOf,
  memoryOf,
  newContext,
  ratioOf,
  ROUND_MS,
  ROUNDS,
  signIn,
  sizesUpTo,
  startBare,
  startService,
} from './support.mjs'

const LARGE = isQuick ? [2 ** 16, 2 ** 20] : [2 ** 20, 2 ** 23, 2 ** 26, 2 ** 30]
const MANY = sizesUpTo(100_000)
const BYTES = { 'content-type': 'application/octet-stream' }

export async function measure(say) {
  const folder = await mkdtemp(join(tmpdir(), 'stowage-bench-'))
  const service = await startService({ 'service.data.quota': 'on' })
  try {
    const headers = await signIn(service)
    const large = await measureLarge({ service, headers, folder }, say)
    const small = await measureSmall(service, headers, say)
    return { title: 'Files', rows: [...rowsOfLarge(large, say), rowOfSmall(small, say)], curves: curves(large, small) }
  } finally {
    await service.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

const secondsOf = ({ seconds }) => seconds

function rowsOfLarge(large, say) {
  const rowsOfSize = ({ size, uploads, downloads }) => {
    const mebibytes = results => `${Math.round(size / medianOf(results, secondsOf) / 2 ** 20)} MiB/s`
    const row = (what, ours, bare, least) => ({
      what: what.replace('SIZE', nameOf(size)),
      value: ratioOf(bare, ours, secondsOf),
      unit: 'ratio',
      goal: { least },
      note: `${mebibytes(ours)} : ${mebibytes(bare)}`,
    })
    return [
      row(
        'upload of SIZE : bare `node:http` → SHA-256 → file, synchronised',
        uploads.ours,
        uploads.bareWithDigest,
        0.95,
      ),
      row('upload of SIZE : the same without SHA-256', uploads.ours, uploads.bare, 0.8),
      row('download of SIZE : bare `node:http` from a file', downloads.ours, downloads.bare, 0.85),
    ]
  }
  const { growth, size } = large.at(-1)
  say(`largest file ${size} bytes`)
  return [
    ...large.slice(-2).flatMap(rowsOfSize),
    {
      what: `growth of resident memory while ${nameOf(size)} go in and out`,
      value: growth / 2 ** 20,
      unit: 'MiB',
      goal: { most: 32 },
    },
  ]
}

const nameOf = size => (size >= 2 ** 30 ? `${size / 2 ** 30} GiB` : `${size / 2 ** 20} MiB`)

const rowOfSmall = ({ results, sizes }, say) => ({
  what: 'uploads of 1 KiB into a context of 10⁵ files : an empty one',
  value: ratioOf(results[sizes.at(-1)], results.empty),
  unit: 'ratio',
  goal: { least: 0.9 },
  note: `${say.rate(medianOf(results[sizes.at(-1)]))} : ${say.rate(medianOf(results.empty))}`,
})

const curves = (large, { results, sizes }) => [
  {
    name: 'file-sizes',
    title: 'Throughput in relation to the bare pipeline, as files grow',
    x: 'bytes of the file',
    series: [
      ['uploads : with SHA-256', ({ uploads: { ours, bareWithDigest } }) => ratioOf(bareWithDigest, ours, secondsOf)],
      ['uploads : without', ({ uploads: { ours, bare } }) => ratioOf(bare, ours, secondsOf)],
      ['downloads', ({ downloads: { ours, bare } }) => ratioOf(bare, ours, secondsOf)],
    ].map(([name, ratio]) => ({ name, points: large.map(one => [one.size, ratio(one)]) })),
  },
  {
    name: 'file-counts',
    title: 'Uploads of 1 KiB in relation to an empty context, as its files grow',
    x: 'files in the context',
    series: [{ name: 'uploads', points: sizes.map(size => [size, ratioOf(results[size], results.empty)]) }],
  },
]

async function measureLarge({ service, headers, folder }, say) {
  const context = await newContext(service, headers)
  const bareUpload = await startBare('upload', folder, false)
  const bareWithDigest = await startBare('upload', folder, true)
  const results = []
  for (const size of LARGE) {
    const file = join(folder, 'source')
    await writeFile(file, randomBytes(size))
    const bareDownload = await startBare('download', file, size)
    const entry = JSON.parse(await ask(service, headers, 'POST', context, {})).entryId
    const url = `${service.base}${context}/resource/${entry}`
    const send = (to, withHeaders) => upload(to, file, withHeaders)
    const rounds = isQuick ? 1 : size >= 2 ** 30 ? 3 : 5
    // The first round only warms up, so its growth does not count.
    let before
    const { up, bareUp, bareUpWithDigest, down, bareDown } = await interleave(rounds, {
      up: () => send(url, headers),
      bareUp: () => send(bareUpload.base, {}),
      bareUpWithDigest: () => send(bareWithDigest.base, {}),
      down: async round => {
        const taken = await download(url, headers, size)
        if (round === 0) before = (await memoryOf(service.pid)).peak
        return taken
      },
      bareDown: () => download(bareDownload.base, {}, size),
    })
    const growth = (await memoryOf(service.pid)).peak - before
    results.push({
      size,
      growth,
      uploads: { ours: up, bare: bareUp, bareWithDigest: bareUpWithDigest },
      downloads: { ours: down, bare: bareDown },
    })
    await bareDownload.stop()
    say(`files of ${size} bytes`)
  }
  await bareUpload.stop()
  await bareWithDigest.stop()
  return results
}

async function upload(url, file, headers) {
  const { size } = await stat(file)
  const begun = performance.now()
  const status = await new Promise((resolve, reject) => {
    const options = { method: 'PUT', headers: { ...BYTES, 'content-length': size, ...headers } }
    const sending = httpRequest(url, options, response => {
      response.resume()
      response.on('end', () => resolve(response.statusCode))
    })
    sending.on('error', reject)
    createReadStream(file, { highWaterMark: 2 ** 18 }).pipe(sending)
  })
  if (status >= 300) throw new Error(`uploading: ${status}`)
  return { seconds: (performance.now() - begun) / 1000 }
}

async function download(url, headers, size) {
  const begun = performance.now()
  const length = await new Promise((resolve, reject) => {
    const asking = httpRequest(url, { headers }, response => {
      let length = 0
      response.on('data', chunk => (length += chunk.length))
      response.on('end', () => resolve(length))
    })
    asking.on('error', reject)
    asking.end()
  })
  if (length !== size) throw new Error(`downloaded ${length} of ${size} bytes`)
  return { seconds: (performance.now() - begun) / 1000 }
}

/** Each round uses entries that have no file yet. */
async function measureSmall(service, headers, say) {
  const all = { ...BYTES, ...headers }
  const rooms = {}
  for (const size of ['empty', ...MANY]) rooms[size] = await makeRoom(service, headers, size === 'empty' ? 0 : size)
  say('contexts filled')
  const body = randomBytes(1024)
  const work = Object.entries(rooms).map(([size, { context, next }]) => [
    size,
    () =>
      load(service, () => request('PUT', `/${context}/resource/${next()}`, all, body), {
        connections: 8,
        ms: ROUND_MS,
        status: 201,
      }),
  ])
  return { sizes: MANY, results: await interleave(ROUNDS, Object.fromEntries(work)) }
}

const SPARE = isQuick ? 3000 : 40_000

/** Makes a context with this many stored files, and entries for more. */
async function makeRoom(service, headers, size) {
  const context = await newContext(service, headers)
  const database = await openSqliteDatabase(join(service.folder, 'store.sqlite'))
  for (let from = 1; from <= size + SPARE; from += 2000) {
    await database.transaction(async tx => {
      for (let n = from; n < from + 2000 && n <= size + SPARE; n++) {
        const id = String(n)
        await insertEntry(tx, newEntry({ context, id, by: '_admin', now: n, metadata: {} }))
        if (n > size) continue
        const blob = Buffer.from(`${context}/${id}`).toString('hex').padStart(40, '0').slice(-40)
        await putFile(tx, { context, id, user: null }, { blob, size: 1024, sha256: '0'.repeat(64) })
      }
      await tx.run(sql`UPDATE contexts SET last_number = ${size + SPARE} WHERE id = ${context}`)
    })
  }
  await database.run(
    sql`UPDATE quota_usage SET used = ${size * 1024}, files = ${size} WHERE kind = 'context' AND owner = ${context}`,
  )
  await database.close()
  let last = size
  const next = () => {
    if (++last > size + SPARE) throw new Error('there are no more entries')
    return last
  }
  return { context, next }
}
