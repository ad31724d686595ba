import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { stowage } from '../support/cli.ts'
import type { Visitor } from '../support/http-client.ts'
import { eventually } from '../support/raw-request.ts'
import { newContext, type Process, startProcess } from '../support/service.ts'
import { blobsOf } from '../support/blobs.ts'
import { dropGone, type Held, type Place, type Space, type Tally, work, WrongAnswer } from './crash-load.ts'
import { Random } from './random.ts'

export interface CrashReport {
  readonly rounds: number
  readonly seed: number
  readonly acknowledged: number
  readonly refused: number
  /** Places that a crash left between old and new. */
  readonly uncertain: number
  /** From the start of the process to its first answer, in milliseconds. */
  readonly starts: readonly number[]
}

interface Options {
  readonly rounds: number
  readonly seed: number
  /** Where the data lies; empty at first. */
  readonly folder: string
  readonly onRound?: (round: number) => void
}

const WORKERS = 6
const CONTEXTS = 3
const settings = { 'service.data.quota': 'on', 'service.log.level': 'error' }

/**
 * Kills the real program again and again while clients write, and after each start holds everything against what was
 * acknowledged: bytes by digest, fill levels and quotas by number, blobs on the disk by count.
 * @throws {AssertionError} naming the round and what was lost
 */
export async function proveCrash({ rounds, seed, folder, onRound }: Options): Promise<CrashReport> {
  const random = new Random(seed)
  const tally = { acknowledged: 0, refused: 0 }
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
        if (spaces.length === 0) spaces = await newSpaces(admin)
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
  return { rounds, seed, ...tally, uncertain, starts }
}

/** Two clients share a context and its quota, each with places of its own. */
async function newSpaces(admin: Visitor): Promise<Space[]> {
  const spaces: Space[] = []
  for (let count = 0; count < CONTEXTS; count++) {
    spaces.push({ context: await newContext(admin), possibleQuotas: [-1], places: [] })
  }
  return spaces
}

/** Resolves to the number of places whose last change the crash cut off. */
async function loadAndKill(
  service: Process,
  admin: Visitor,
  spaces: readonly Space[],
  random: Random,
  tally: Tally,
): Promise<number> {
  const shares = Array.from({ length: WORKERS }, (_, index) => shareOf(spaces, index))
  const workers = shares.map(async share => await work(admin, share, random.fork(), tally))
  const ends = Promise.allSettled(workers)
  await delay(random.below(400))
  // Now and then in the middle of an orderly stop.
  if (random.chance(10)) void service.stop('SIGTERM')
  if (random.chance(50)) await delay(random.below(20))
  await service.stop('SIGKILL')
  for (const end of await ends) {
    if (end.status === 'rejected' && (end.reason instanceof WrongAnswer || !isCutOff(end.reason))) throw end.reason
  }
  spaces.forEach((space, index) => {
    const mine = shares.filter((_, worker) => worker % CONTEXTS === index)
    space.places.splice(0, space.places.length, ...mine.flatMap(({ places }) => places))
    space.possibleQuotas = [...new Set(mine.flatMap(({ possibleQuotas }) => possibleQuotas))]
  })
  return spaces.flatMap(({ places }) => places).filter(({ possible }) => possible.length > 1).length
}

/** The places of a context go by turns to the clients that work on it. */
function shareOf(spaces: readonly Space[], worker: number): Space {
  const space = spaces[worker % CONTEXTS]
  assert.ok(space)
  const turn = Math.floor(worker / CONTEXTS)
  const places = space.places.filter((_, index) => index % (WORKERS / CONTEXTS) === turn)
  return { context: space.context, possibleQuotas: space.possibleQuotas, places }
}

const isCutOff = (reason: unknown): boolean =>
  reason instanceof Error && 'code' in reason && ['ECONNRESET', 'ECONNREFUSED', 'EPIPE'].includes(String(reason.code))

/** Holds what the service has against what it may have, and settles what was uncertain. */
async function check(service: Process, admin: Visitor, spaces: readonly Space[]): Promise<void> {
  for (const space of spaces) {
    await Promise.all(space.places.map(async place => await settle(admin, place)))
    const level = space.places.reduce(
      (sum, { possible: [held] }) => sum + (typeof held === 'object' ? held.size : 0),
      0,
    )
    const { quota, fillLevel } = (await admin.get(`${space.context}/quota`)).json<{
      quota: number
      fillLevel: number
    }>()
    assert.equal(fillLevel, level, `the fill level of context ${space.context}`)
    assert.ok(space.possibleQuotas.includes(quota), `the quota of context ${space.context} is ${quota}`)
    space.possibleQuotas = [quota]
    dropGone(space)
  }
  const files = spaces.flatMap(({ places }) => places).filter(({ possible: [held] }) => typeof held === 'object').length
  await eventually(`there are ${files} blobs and no others`, async () => {
    const { stored, incoming } = await blobsOf(service)
    return stored.length === files && incoming.length === 0
  })
}

async function settle(admin: Visitor, place: Place): Promise<void> {
  const answer = await admin.get(`${place.context}/resource/${place.entry}`)
  const held = ((): Held => {
    if (answer.status === 404) return 'gone'
    if (answer.status === 204) return 'empty'
    assert.equal(answer.status, 200, answer.text)
    return { size: answer.bytes.length, sha256: createHash('sha256').update(answer.bytes).digest('hex') }
  })()
  const told = JSON.stringify(held)
  const possible = place.possible.map(one => JSON.stringify(one))
  assert.ok(possible.includes(told), `${place.context}/${place.entry} holds ${told}, not one of ${possible.join(', ')}`)
  place.possible = [held]
}
