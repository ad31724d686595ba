import assert from 'node:assert/strict'
import { performance } from 'node:perf_hooks'
import { stowage } from '../support/cli.ts'
import type { Visitor } from '../support/http-client.ts'
import { type Process, startProcess } from '../support/service.ts'
import { blobsOf } from '../support/blobs.ts'
import {
  filesIn,
  gather,
  newSpaces,
  ReadFailed,
  settle,
  sharesOf,
  type Space,
  type Tally,
  work,
  WrongAnswer,
} from './crash-load.ts'
import { Random } from './random.ts'
import { eventually, turns } from '../support/waiting.ts'

export interface CrashReport {
  readonly rounds: number
  readonly seed: number
  readonly acknowledged: number
  readonly refused: number
  /** Entries whose last change a crash cut off, so that old and new content are both possible. */
  readonly uncertain: number
  /** From the start of the process to its first answer, in milliseconds; only reported. */
  readonly starts: readonly number[]
}

interface Options {
  readonly rounds: number
  readonly seed: number
  /** The data folder; empty at first. */
  readonly folder: string
  readonly onRound?: (round: number) => void
}

/** Two workers share a context and its quota; each has its own entries. */
const WORKERS = 6
const CONTEXTS = 3
const settings = { 'service.data.quota': 'on', 'service.log.level': 'error' }

/**
 * Kills the program repeatedly while clients write. After each start it compares the store with what was acknowledged: bytes
 * by digest, fill levels and quotas by number, blobs on disk by count.
 * @throws {AssertionError} with the round and what was lost
 */
export async function proveCrash({ rounds, seed, folder, onRound }: Options): Promise<CrashReport> {
  const random = new Random(seed)
  const tally: Tally = { acknowledged: 0, refused: 0, open: 0 }
  const starts: number[] = []
  let uncertain = 0
  let spaces: Space[] = []
  const cleanups: Array<() => Promise<void>> = []
  const start = async (): Promise<{ service: Process; admin: Visitor }> => {
    const begin = performance.now()
    const service = await startProcess({ after: cleanup => void cleanups.push(cleanup) }, { folder, settings })
    assert.equal((await service.visitor().get('management/ready')).status, 200)
    starts.push(performance.now() - begin)
    return { service, admin: await service.admin() }
  }
  try {
    for (let round = 1; round <= rounds; round++) {
      const { service, admin } = await start()
      try {
        if (spaces.length === 0) spaces = await newSpaces(admin, CONTEXTS)
        await check(service, admin, spaces)
        uncertain += await loadAndKill(service, admin, spaces, random, tally)
      } catch (error) {
        throw new Error(`round ${round} of seed ${seed}`, { cause: error })
      }
      onRound?.(round)
    }
    const { service, admin } = await start()
    await check(service, admin, spaces)
    assert.equal(await service.stop(), 0)
    const { status, stdout } = await stowage(folder, ['fsck', '--set', `service.data.folder=${folder}`])
    assert.equal(status, 0, stdout)
  } finally {
    for (const cleanup of cleanups) await cleanup()
  }
  const { acknowledged, refused } = tally
  return { rounds, seed, acknowledged, refused, uncertain, starts }
}

/** Resolves to the number of entries whose last change the crash cut off. */
async function loadAndKill(
  service: Process,
  admin: Visitor,
  spaces: readonly Space[],
  random: Random,
  tally: Tally,
): Promise<number> {
  const shares = sharesOf(spaces, WORKERS)
  const workers = shares.map(async share => await work(admin, share, random.fork(), tally))
  const ends = Promise.allSettled(workers)
  await nextAnswers(tally, random.below(60), random)
  // Sometimes in the middle of an orderly stop.
  if (random.chance(10)) void service.stop('SIGTERM')
  if (random.chance(50)) await turns(random.below(200))
  await service.stop('SIGKILL')
  for (const end of await ends) {
    if (end.status === 'rejected' && (end.reason instanceof WrongAnswer || !isCutOff(end.reason))) throw end.reason
  }
  gather(spaces, shares)
  return spaces.flatMap(({ places }) => places).filter(({ possible }) => possible.length > 1).length
}

/** Waits for this number of answers, and for a random moment between two of them. */
async function nextAnswers(tally: Tally, count: number, random: Random): Promise<void> {
  const wanted = tally.acknowledged + tally.refused + count
  await eventually(`${count} requests are answered`, () => tally.acknowledged + tally.refused >= wanted)
  await turns(random.below(200))
}

function isCutOff(reason: unknown): boolean {
  const error = reason instanceof ReadFailed ? reason.cause : reason
  return (
    error instanceof Error && 'code' in error && ['ECONNRESET', 'ECONNREFUSED', 'EPIPE'].includes(String(error.code))
  )
}

async function check(service: Process, admin: Visitor, spaces: readonly Space[]): Promise<void> {
  await settle(admin, spaces)
  const files = filesIn(spaces)
  await eventually(`there are ${files} blobs and no others`, async () => {
    const { stored, incoming } = await blobsOf(service)
    return stored.length === files && incoming.length === 0
  })
}
