import { randomInt } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { proveAccess } from './access-model.ts'
import { requireCluster, startCluster } from '../support/cluster.ts'
import { proveCluster } from './cluster.ts'
import { proveCrash } from './crash.ts'
import { proveFuzz } from './fuzz.ts'
import { strace } from '../support/peers/strace.ts'
import { startInProcess } from '../support/service.ts'
import { httpModelSettings, proveHttp } from './http-model.ts'
import { proveLedger } from './ledger-model.ts'
import { proveLockout } from './lockout-model.ts'
import { proveOperations } from './operations-model.ts'
import { provePower, recordLife } from './power.ts'
import { proveSessions } from './session-model.ts'
import { quotas } from '../support/quota.ts'

// `npm run prove:…`: the proofs that the tests run too, for as long as one has patience, repeatable by their seed.

const usage = `Usage: npm run prove:crash -- [--rounds N] [--seed S]
       npm run prove:power -- [--states N] [--seed S]
       npm run prove:cluster -- [--rounds N] [--seed S]
       npm run prove:model -- [--operations N] [--seed S]
       npm run prove:access -- [--operations N] [--seed S]
       npm run prove:operations -- [--operations N] [--seed S]
       npm run prove:http -- [--operations N] [--seed S]
       npm run prove:fuzz -- [--cases N] [--seed S]
`
/** Sequences of operations between two looks at how many operations there have been. */
const BATCH = 200
/** Operations of two services. */
const OPERATIONS_BATCH = 50
/** Changes of one store. */
const ACCESS_BATCH = 5000

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '50' },
    operations: { type: 'string', default: '100000' },
    cases: { type: 'string', default: '1000' },
    states: { type: 'string', default: '12000' },
    seed: { type: 'string', default: String(randomInt(1_000_000)) },
  },
})
const proofs = new Map<string, () => Promise<object>>([
  ['crash', () => crash(whole(values.rounds), whole(values.seed))],
  ['power', () => power(whole(values.states), whole(values.seed))],
  ['cluster', () => cluster(whole(values.rounds), whole(values.seed))],
  ['model', () => model(whole(values.operations), whole(values.seed))],
  ['fuzz', () => fuzz(whole(values.cases), whole(values.seed))],
  ['access', () => access(whole(values.operations), whole(values.seed))],
  ['operations', () => operations(whole(values.operations), whole(values.seed))],
  ['http', () => http(whole(values.operations), whole(values.seed))],
])
const proof = proofs.get(positionals[0] ?? '')
if (!proof || positionals.length > 1) fail()
const begin = Date.now()
const outcome = await proof()
tell({ ...outcome, minutes: Number(((Date.now() - begin) / 60_000).toFixed(1)) })

async function crash(rounds: number, seed: number) {
  const folder = await mkdtemp(join(tmpdir(), 'stowage-proof-'))
  try {
    const onRound = (round: number): void => {
      if (round % 10 === 0) process.stderr.write(`round ${round}\n`)
    }
    const { starts, ...report } = await proveCrash({ rounds, seed, folder, onRound })
    const sorted = starts.map(Math.round).toSorted((a, b) => a - b)
    return { ...report, medianStart: sorted[Math.floor(sorted.length / 2)], slowestStart: sorted.at(-1) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Needs strace. */
async function power(states: number, seed: number) {
  if (!strace.available()) fail('strace is not installed, or may not trace processes here.\n')
  const recording = await recordLife()
  const onState = (count: number): void => {
    if (count % 1000 === 0) process.stderr.write(`${count} states\n`)
  }
  const { calls, steps } = recording
  const report = await provePower(recording, { states, seed, onState })
  const opened = Object.values(report.states).reduce((sum, count) => sum + count, 0)
  if (report.findings.length > 0) process.exitCode = 1
  return { seed, calls: calls.length, steps: steps.length, opened, ...report }
}

/** Needs the servers that `.ci/install-peers` installs. */
async function cluster(rounds: number, seed: number) {
  requireCluster({ skip: message => fail(message) })
  const endings: Array<() => Promise<void>> = []
  try {
    const onRound = (round: number): void => void process.stderr.write(`round ${round}\n`)
    return await proveCluster(await startCluster({ after: end => void endings.unshift(end) }), {
      rounds,
      seed,
      onRound,
    })
  } finally {
    for (const end of endings) await end()
  }
}

/** Each model one after the other, each batch with a seed of its own. */
async function model(operations: number, seed: number) {
  const models = {
    lockout: proveLockout,
    'sessions in memory': proveSessions.bind(undefined, 'memory'),
    'sessions in the database': proveSessions.bind(undefined, 'database'),
    'ledger with quotas': proveLedger.bind(
      undefined,
      quotas(1000, { defaults: { context: 1000, user: 700, providerUser: -1 } }),
    ),
    'ledger with quotas by hand': proveLedger.bind(undefined, quotas()),
    'ledger without quotas': proveLedger.bind(undefined, quotas(100, { enforced: false })),
  }
  const done: Record<string, number> = {}
  for (const [name, prove] of Object.entries(models)) {
    done[name] = 0
    for (let batch = 0; done[name] < operations / Object.keys(models).length; batch++) {
      done[name] += await prove({ runs: BATCH, seed: seed + batch })
    }
    process.stderr.write(`${name}: ${done[name]} operations\n`)
  }
  return { seed, operations: done }
}

/** Each store with a seed of its own. The caches take part, as the store is a file. */
async function access(operations: number, seed: number) {
  const done = { seed, changes: 0, refused: 0, decisions: 0 }
  for (let store = 0; done.changes < operations; store++) {
    const folder = await mkdtemp(join(tmpdir(), 'stowage-proof-'))
    try {
      const some = Math.min(ACCESS_BATCH, operations - done.changes)
      const report = await proveAccess({ operations: some, seed: seed + store, file: join(folder, 'store.sqlite') })
      for (const name of ['changes', 'refused', 'decisions'] as const) done[name] += report[name]
      process.stderr.write(`${done.changes} changes, ${done.decisions} decisions\n`)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
  return done
}

/** Two services for each batch, with sessions in memory and in the database in turn; every third time the program is killed. */
async function operations(wanted: number, seed: number) {
  const done = { seed, operations: 0, entries: 0, failed: 0, interrupted: 0 }
  for (let batch = 0; done.operations < wanted; batch++) {
    const endings: Array<() => Promise<void>> = []
    try {
      const sessions = batch % 2 === 0 ? 'database' : 'memory'
      const run = {
        operations: Math.min(OPERATIONS_BATCH, wanted - done.operations),
        seed: seed + batch,
        sessions,
        isKilled: batch % 3 === 2,
      } as const
      const report = await proveOperations({ after: end => endings.unshift(end) }, run)
      for (const name of ['operations', 'entries', 'failed', 'interrupted'] as const) done[name] += report[name]
      process.stderr.write(`${done.operations} operations\n`)
    } finally {
      for (const end of endings) await end()
    }
  }
  return done
}

/** One service for all batches, as it would be in use. */
async function http(operations: number, seed: number) {
  const endings: Array<() => Promise<void>> = []
  const service = await startInProcess({ after: end => endings.unshift(end) }, { settings: httpModelSettings })
  try {
    let done = 0
    for (let batch = 0; done < operations; batch++) {
      done += await proveHttp(service, { runs: 50, seed: seed + batch })
      process.stderr.write(`${done} operations\n`)
    }
    return { seed, operations: done }
  } finally {
    for (const end of endings) await end()
  }
}

/** Runs `cases` cases of each target. */
async function fuzz(cases: number, seed: number) {
  const endings: Array<() => Promise<void>> = []
  const onTarget = (name: string): void => void process.stderr.write(`${name}\n`)
  try {
    return { seed, ...(await proveFuzz({ after: end => endings.unshift(end) }, { cases, seed, onTarget })) }
  } finally {
    for (const end of endings) await end()
  }
}

function whole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) fail()
  return Number(text)
}

function fail(reason = usage): never {
  process.stderr.write(reason)
  process.exit(2)
}

function tell(outcome: object): void {
  process.stdout.write(`${JSON.stringify(outcome)}\n`)
}
