import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isClearRefusal, prepareLoad } from '../proof/cluster-load.ts'
import { ReadFailed, WrongAnswer } from '../proof/crash-load.ts'
import { proofSeed } from '../support/proofs.ts'
import { Random } from '../proof/random.ts'
import { type Cluster, requireCluster, startCluster } from '../support/cluster.ts'
import { Visitor } from '../support/http-client.ts'
import { signalPostgres, startPostgres, stopPostgres } from '../support/peers/postgres.ts'
import { ADMIN_PASSWORD, newContext, newEntry } from '../support/service.ts'
import { putFile } from '../support/uploads.ts'
import { eventually } from '../support/waiting.ts'

/** Takes two stores away, resolves to what brings them back. */
type Outage = (there: Cluster) => Promise<() => Promise<void>>

const outages: ReadonlyMap<string, Outage> = new Map([
  [
    'PostgreSQL and Redis stand still',
    async ({ postgres, redis }) => {
      await signalPostgres(postgres, 'SIGSTOP')
      redis.freeze()
      return async () => {
        redis.thaw()
        await signalPostgres(postgres, 'SIGCONT')
      }
    },
  ],
  [
    'Redis dies while the bucket stands still',
    async ({ redis, s3 }) => {
      s3.freeze()
      await redis.kill()
      return async () => {
        s3.thaw()
        await redis.restart()
      }
    },
  ],
  [
    'PostgreSQL and the bucket die',
    async ({ postgres, s3 }) => {
      await stopPostgres(postgres, 'SIGQUIT')
      await s3.kill()
      return async () => {
        await startPostgres(postgres.folder, postgres.port)
        await s3.start()
      }
    },
  ],
])

test('while two stores hang or stop under load, every error is a clear 503; afterwards all nodes continue without a restart and nothing is lost', async t => {
  if (!requireCluster(t)) return
  const there = await startCluster(t)
  const { tally, ...load } = await prepareLoad(there, new Random(proofSeed()), isRefusedForNow)
  const admin = await there.admin()
  const context = await newContext(admin)
  const path = `${context}/resource/${await newEntry(admin, context)}`
  load.begin()
  t.after(() => load.stop())
  for (const [what, takeAway] of outages) {
    const [acknowledged, open] = [tally.acknowledged, tally.open]
    await eventually(`work before ${what}`, () => load.check() && tally.acknowledged > acknowledged + 10)
    const bringBack = await takeAway(there)
    try {
      await eventually(`refusals while ${what}`, () => load.check() && tally.open > open + 3)
    } finally {
      await bringBack()
    }
    for (const { base } of there.nodes) await requireRecovered(what, base, path)
  }
  await load.end()
  assert.match(await there.fsck(), /0 findings, 0 open\.$/m)
  for (const node of there.nodes) assert.doesNotMatch(node.output(), /Test-Password|not-a-secret-of-anybody/)
})

/** A read that breaks off in the middle has said its status already. */
const isRefusedForNow = (error: unknown): boolean =>
  error instanceof ReadFailed || (error instanceof WrongAnswer && isClearRefusal(error.answer))

/** Signing in, rows and bytes of files, at a node that was not started anew. */
async function requireRecovered(what: string, base: string, path: string): Promise<void> {
  const visitor = new Visitor(base)
  const attempts = [
    () => visitor.signIn('admin', ADMIN_PASSWORD),
    () => putFile(visitor, path, 'bytes'),
    () => visitor.get(path),
  ]
  for (const attempt of attempts) {
    await eventually(`${base} goes on after ${what}`, async () => {
      const answer = await attempt()
      if (answer.status < 300) return true
      assert.ok(isClearRefusal(answer), `${answer.status} ${answer.text}`)
      return false
    })
  }
}
