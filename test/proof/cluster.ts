import assert from 'node:assert/strict'
import { eventually } from '../support/waiting.ts'
import type { Cluster } from '../support/cluster.ts'
import { type ClusterLoad, isClearRefusal, prepareLoad } from './cluster-load.ts'
import { filesIn, ReadFailed, WrongAnswer } from './crash-load.ts'
import { Random } from './random.ts'

export interface ClusterReport {
  readonly rounds: number
  readonly seed: number
  readonly kills: number
  readonly acknowledged: number
  readonly refused: number
  /** Changes whose response was cut off. */
  readonly open: number
  readonly logins: number
}

interface Options {
  /** In each round every node is killed once. */
  readonly rounds: number
  readonly seed: number
  readonly onRound?: (round: number) => void
}

/**
 * Kills nodes of a cluster, one at a time, while clients write. After each round it compares the store with what was
 * acknowledged: bytes by digest, fill levels and quotas by number; at the end it runs `fsck`.
 * @throws {AssertionError} with the round and what was lost
 */
export async function proveCluster(cluster: Cluster, { rounds, seed, onRound }: Options): Promise<ClusterReport> {
  const random = new Random(seed)
  const load = await prepareLoad(cluster, random, isCutOff)
  let kills = 0
  for (let round = 1; round <= rounds; round++) {
    try {
      load.begin()
      for (const node of cluster.nodes) {
        await nextAnswers(load, 20 + random.below(60))
        await node.kill()
        kills++
        await nextAnswers(load, random.below(60))
        await node.start()
      }
      await load.end()
    } catch (error) {
      throw new Error(`round ${round} of seed ${seed}`, { cause: error })
    }
    onRound?.(round)
  }
  await requireNothingLeft(cluster, filesIn(load.spaces))
  return { rounds, seed, kills, ...load.tally, logins: load.logins() }
}

/** Waits for this number of acknowledged changes. @throws when the load has failed */
async function nextAnswers(load: ClusterLoad, count: number): Promise<void> {
  const wanted = load.tally.acknowledged + count
  await eventually(`${count} changes are acknowledged`, () => load.check() && load.tally.acknowledged >= wanted)
}

/** Reservations of killed nodes expire. After that, the store contains only the files. */
async function requireNothingLeft(cluster: Cluster, files: number): Promise<void> {
  await cluster.look('UPDATE uploads SET expires = 0')
  const [node] = cluster.nodes
  await node?.kill()
  await node?.start()
  assert.match(await cluster.fsck(), new RegExp(`^${files} files?, \\d+ bytes checked; 0 findings, 0 open\\.$`, 'm'))
  const rows =
    'SELECT (SELECT count(*) FROM uploads)::int AS uploads, (SELECT sum(reserved) FROM quota_usage)::int AS reserved'
  assert.deepEqual({ ...(await cluster.look(rows)) }, { uploads: 0, reserved: 0 })
}

/** True for nginx's response about a stopped node, for an interrupted response, and for conflicts of many requests. */
function isCutOff(error: unknown): boolean {
  if (!(error instanceof WrongAnswer)) {
    const broken = error instanceof ReadFailed ? error.cause : error
    return broken instanceof Error && 'code' in broken && broken.code === 'ECONNRESET'
  }
  const { asked, answer } = error
  // nginx repeats a DELETE on the next node when the first one dies, and the first may have deleted it already.
  return answer.status === 502 || isClearRefusal(answer) || (asked === 'DELETE' && answer.status === 404)
}
