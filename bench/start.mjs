// The time from the start of the program to its first response, as the store grows.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newEntry } from '../src/model/entry.ts'
import { insertEntry } from './entries-in-store.mjs'
import { openSqliteDatabase } from '../src/stores/sqlite/sqlite-database.ts'
import { ask, interleave, medianOf, newContext, ROUNDS, signIn, sizesUpTo, startService } from './support.mjs'

const SIZES = [0, ...sizesUpTo(100_000)]

export async function measure(say) {
  const stores = {}
  try {
    for (const size of SIZES) stores[size] = await makeStore(size)
    say('stores filled')
    const results = await interleave(
      ROUNDS,
      Object.fromEntries(SIZES.map(size => [`of ${size}`, () => timeStart(stores[size])])),
    )
    const ms = size => medianOf(results[`of ${size}`], ({ ms }) => ms)
    const row = (what, size) => ({ what, value: ms(size), unit: 'ms', goal: { most: 1000 } })
    return {
      title: 'Starting',
      rows: [row('start to first answer, empty store', 0), row('start to first answer, 10⁵ entries', SIZES.at(-1))],
      curves: [
        {
          name: 'start',
          title: 'From start to first answer in milliseconds, as entries grow',
          x: 'entries',
          series: [{ name: 'milliseconds', points: SIZES.slice(1).map(size => [size, ms(size)]) }],
        },
      ],
    }
  } finally {
    for (const folder of Object.values(stores)) await rm(folder, { recursive: true, force: true })
  }
}

async function makeStore(size) {
  const folder = await mkdtemp(join(tmpdir(), 'stowage-bench-'))
  const service = await startService({}, { folder })
  const context = await newContext(service, await signIn(service))
  await service.stop()
  const database = await openSqliteDatabase(join(folder, 'store.sqlite'))
  for (let from = 1; from <= size; from += 2000) {
    await database.transaction(async tx => {
      for (let n = from; n < from + 2000 && n <= size; n++) {
        const title = [{ type: 'literal', value: `Entry ${n}` }]
        const metadata = { [`./${context}/resource/${n}`]: { 'http://purl.org/dc/terms/title': title } }
        await insertEntry(tx, newEntry({ context, id: String(n), by: '_admin', now: n, metadata }))
      }
    })
  }
  await database.close()
  return folder
}

async function timeStart(folder) {
  const service = await startService({}, { folder })
  await ask(service, {}, 'GET', 'auth/user')
  const ms = performance.now() - service.begun
  await service.stop()
  return { ms }
}
