// Sign-in with a password, and how a flood of attempts affects users who are already signed in.
import { join } from 'node:path'
import { once } from 'node:events'
import { hashLimits } from '../src/accounts/passwords.ts'
import { findUser, insertUser } from '../src/accounts/users.ts'
import { openSqliteDatabase } from '../src/stores/sqlite/sqlite-database.ts'
import { load, request } from './load.mjs'
import {
  interleave,
  loginOf,
  medianOf,
  ratioOf,
  ROUND_MS,
  ROUNDS,
  signIn,
  sizesUpTo,
  startBare,
  startService,
} from './support.mjs'

const SIZES = sizesUpTo(100_000)
const CONCURRENCY = hashLimits().concurrency
const MS = 2 * ROUND_MS

export async function measure(say) {
  const service = await startService({
    'service.auth.temp.lockout.max.attempts': '-1',
  })
  const bare = await startBare('argon2id', CONCURRENCY)
  try {
    const reader = request('GET', '/auth/user', await signIn(service))
    const logins = []
    for (const size of SIZES) {
      await addUsers(service, size)
      logins.push(await measureLogins(service, bare, size))
      say(`logins among ${size} users`)
    }
    const flood = await measureFlood(service, reader)
    return { title: 'Signing in', rows: rows(logins, flood, say), curves: curves(logins) }
  } finally {
    await bare.stop()
    await service.stop()
  }
}

function rows(logins, { quiet, flooded, answered }, say) {
  const { ours, bare, ratio } = logins.at(-1)
  return [
    {
      what: 'logins with a password, 10⁵ users : bare argon2id on as many threads',
      value: ratio,
      unit: 'ratio',
      goal: { least: 0.9 },
      note: `${say.rate(ours)} : ${say.rate(bare)}`,
    },
    {
      what: 'readers during a flood of logins : without',
      value: ratioOf(flooded, quiet),
      unit: 'ratio',
      goal: { least: 0.75 },
      note: `${say.rate(medianOf(flooded))} : ${say.rate(medianOf(quiet))}, beside ${say.rate(answered)} logins`,
    },
    { what: "readers' 99th percentile without a flood", value: medianOf(quiet, ({ p99 }) => p99), unit: 'ms' },
    { what: "readers' 99th percentile during a flood", value: medianOf(flooded, ({ p99 }) => p99), unit: 'ms' },
  ]
}

const curves = logins => [
  {
    name: 'logins',
    title: 'Logins per second in relation to bare argon2id, as users grow',
    x: 'users',
    series: [{ name: 'logins : hashes', points: logins.map(({ size, ratio }) => [size, ratio]) }],
  },
]

/** Adds users with the password of admin, up to this number. */
async function addUsers({ folder }, size) {
  const database = await openSqliteDatabase(join(folder, 'store.sqlite'))
  const { password } = await findUser(database, '_admin')
  await database.transaction(async tx => {
    for (let n = 0; n < size; n++) {
      if ((await findUser(tx, `u${n}`)) === undefined) await insertUser(tx, { id: `u${n}`, name: `user${n}`, password })
    }
  })
  await database.close()
}

async function measureLogins(service, bare, size) {
  let turn = 0
  const requests = Array.from({ length: 100 }, (_, n) => loginOf(`user${Math.floor((n * size) / 100)}`))
  const { ours, hashes } = await interleave(ROUNDS, {
    ours: () => load(service, () => requests[turn++ % requests.length], { connections: 2 * CONCURRENCY, ms: MS }),
    hashes: async () => {
      bare.process.send(MS)
      return (await once(bare.process, 'message'))[0]
    },
  })
  return { size, ours: medianOf(ours), bare: medianOf(hashes), ratio: ratioOf(ours, hashes) }
}

/** Measures readers alternately without and with a flood of wrong passwords on eight connections. */
async function measureFlood(service, reader) {
  const guess = loginOf('admin', 'a wrong password')
  const answered = []
  const { quiet, flooded } = await interleave(ROUNDS, {
    quiet: () => load(service, () => reader, { ms: MS }),
    flooded: async () => {
      const guessing = load(service, () => guess, { connections: 8, ms: MS, status: 401 })
      const readers = await load(service, () => reader, { ms: MS })
      answered.push((await guessing).rate)
      return readers
    },
  })
  return { quiet, flooded, answered: medianOf(answered, rate => rate) }
}
