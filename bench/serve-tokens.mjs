// The program with a way to fill it with sessions: a million sign-ins with a password would take hours.
import { setTimeout } from 'node:timers/promises'
import { Sessions } from '../src/accounts/sessions.ts'
import { main } from '../src/commands/main.ts'

const SAMPLES = 2000
const PER_USER = 8
const open = Object.getOwnPropertyDescriptor(Sessions.prototype, 'open').value
let sessions
const users = new Map()
// The first sign-ins over HTTP show which sessions the server has, and some of its users.
Sessions.prototype.open = function (user, ...rest) {
  sessions = this
  users.set(user.id, user)
  return open.call(this, user, ...rest)
}

const fill = async count => {
  const before = await used()
  const real = [...users.values()]
  const every = Math.max(1, Math.floor(count / SAMPLES))
  const tokens = []
  for (let n = 0; n < count; n++) {
    // Most sessions belong to users without requests; those of the others are spread among them.
    const isReal = n % every === 0 && tokens.length < SAMPLES
    const user = isReal ? real[tokens.length % real.length] : { ...real[0], id: `u${Math.floor(n / PER_USER)}` }
    // Each one is a separate text, as in real requests.
    const agent = Buffer.from('Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0').toString()
    const address = Buffer.from(`192.0.${(n >> 8) % 256}.${n % 256}`).toString()
    const { token } = await open.call(sessions, user, { address, userAgent: agent })
    if (isReal) tokens.push(token)
  }
  process.send({ tokens, bytes: ((await used()) - before) / count })
}
process.on('message', count => void fill(count))
process.on('disconnect', () => process.exit())

/** Bytes in the heap and outside it, after a garbage collection. */
async function used() {
  for (let times = 0; times < 3; times++) {
    globalThis.gc()
    await setTimeout(20)
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

process.exit(await main(process.argv.slice(2)))
