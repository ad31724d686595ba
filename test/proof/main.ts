import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { proveCrash } from './crash.ts'

/** `npm run prove:crash -- --rounds N --seed S`: as many rounds as one has patience for; the same proofs run in the tests. */
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '50' }, seed: { type: 'string' } },
})
const rounds = Number(values.rounds)
const seed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed)
if (positionals[0] !== 'crash' || !(rounds > 0) || !Number.isSafeInteger(seed)) {
  process.stderr.write('Usage: npm run prove:crash -- [--rounds N] [--seed S]\n')
  process.exit(2)
}

const folder = await mkdtemp(join(tmpdir(), 'stowage-proof-'))
try {
  const begin = Date.now()
  const { starts, ...report } = await proveCrash({ rounds, seed, folder, onRound: tell })
  const sorted = starts.toSorted((a, b) => a - b)
  const [median = 0, slowest = 0] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)]
  const minutes = (Date.now() - begin) / 60_000
  process.stdout.write(
    JSON.stringify({
      ...report,
      minutes: Number(minutes.toFixed(1)),
      medianStart: Math.round(median),
      slowestStart: Math.round(slowest),
    }),
  )
} finally {
  await rm(folder, { recursive: true, force: true })
}

function tell(round: number): void {
  if (round % 10 === 0) process.stderr.write(`round ${round}\n`)
}
