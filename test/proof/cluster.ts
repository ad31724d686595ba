import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { Cluster } from '../support/cluster.ts'
import { isClearRefusal, prepareLoad } from './cluster-load.ts'
import { filesIn, ReadFailed, WrongAnswer } from './crash-load.ts'
import { Random } from './random.ts'

export interface ClusterReport {
  readonly rounds: number
  readonly seed: number
  readonly kills: number
  readonly acknowledged: number
  readonly refused: number
  /** Changes that were cut off. */
  readonly open: number
  readonly logins: number
}

interface Options {
  /** In each, every node is killed once. */
  readonly rounds: number
  readonly seed: number
  readonly onRound?: (round: number) => void
}

/**
 * Kills nodes of a cluster, one at a time, in the middle of a load that goes on, and after each round holds everything
 * against what was acknowledged: bytes by digest, fill levels and quotas by number, in the end what `fsck` finds.
 * @throws {AssertionError} naming the round and what was lost
 */
export async function proveCluster(cluster: Cluster, { rounds, seed, onRound }: Options): Promise<ClusterReport> {
  const random = new Random(seed)
  const load = await prepareLoad(cluster, random, isCutOff)
  let kills = 0
  for (let round = 1; round <= rounds; round++) {
    try {
      load.begin()
      for (const node of cluster.nodes) {
        await delay(200 + random.below(600))
        await node.kill()
        kills++
        await delay(random.below(600))
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

/** What killed nodes held goes with their leases, and then there is nothing but the files. */
async function requireNothingLeft(cluster: Cluster, files: number): Promise<void> {
  await cluster.look('UPDATE uploads SET expires = 0')
  const [node] = cluster.nodes
  await node?.kill()
  await node?.start()
  assert.match(await cluster.fsck(), new RegExp(`^${files} files?, \\d+ bytes checked; 0 findings, 0 open\\.$`, 'm'))
  const rows =
    'SELECT (SELECT count(*) FROM uploads)::int AS uploads, (SELECT sum(reserved) FROM spaces)::int AS reserved'
  assert.deepEqual({ ...(await cluster.look(rows)) }, { uploads: 0, reserved: 0 })
}

/** What nginx says of a node that is gone, an answer that broke off, or that too many got into one another's way. */
function isCutOff(error: unknown): boolean {
  if (!(error instanceof WrongAnswer)) {
    const broken = error instanceof ReadFailed ? error.cause : error
    return broken instanceof Error && 'code' in broken && broken.code === 'ECONNRESET'
  }
  const { asked, answer } = error
  // nginx asks the next node when one dies on a DELETE, and what the first has done is found done.
  return answer.status === 502 || isClearRefusal(answer) || (asked === 'DELETE' && answer.status === 404)
}
