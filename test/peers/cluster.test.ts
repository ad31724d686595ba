import assert from 'node:assert/strict'
import { request } from 'node:https'
import { after, test } from 'node:test'
import { proveCluster } from '../proof/cluster.ts'
import { prepareLoad } from '../proof/cluster-load.ts'
import { Random } from '../proof/random.ts'
import { type Cluster, requireCluster, startCluster } from '../support/cluster.ts'
import { ask, Visitor } from '../support/http-client.ts'
import { isLong, proofSeed } from '../support/proofs.ts'
import { newUser } from '../support/service.ts'
import { eventually, until } from '../support/waiting.ts'

const serviceOf = ({ base, admin }: Cluster) => ({ base, admin, folder: '', visitor: () => new Visitor(base) })

let shared: Promise<Cluster> | undefined
const endings: Array<() => Promise<void>> = []
after(async () => {
  for (const end of endings) await end()
})
const cluster = (): Promise<Cluster> =>
  (shared ??= startCluster({ after: end => void endings.unshift(end) }, { 'service.http.drain-time': '8s' }))

test('after nodes are killed in turn under load, every acknowledged change is kept, quotas are exact and fsck has no findings', async t => {
  if (!requireCluster(t)) return
  const seed = proofSeed()
  const report = await proveCluster(await cluster(), { rounds: isLong ? 4 : 1, seed })
  t.diagnostic(JSON.stringify(report))
  assert.ok(report.acknowledged > 50 && report.logins > 0, 'there was something to lose')
})

test('a session is valid on every node at once, and an ended one is rejected by every node with the next request (D3.5)', async t => {
  if (!requireCluster(t)) return
  const { nodes, admin } = await cluster()
  const [remover, removed] = [await admin(), await admin()]
  const elsewhere = nodes.map(({ base }) => {
    const visitor = new Visitor(base)
    visitor.cookie = removed.cookie
    return visitor
  })
  const users = (): Promise<unknown[]> =>
    Promise.all(elsewhere.map(async visitor => (await visitor.get('auth/user')).json()['user']))
  assert.deepEqual(await users(), ['admin', 'admin', 'admin'])
  const gone = await remover.ask('auth/tokens', { method: 'DELETE', json: { token: removed.cookie } })
  assert.equal(gone.status, 204)
  assert.deepEqual(await users(), ['guest', 'guest', 'guest'])
})

test('50 parallel wrong guesses spread over the nodes are counted exactly: five get 401, the rest 429, and every node enforces the lock (D6.2)', async t => {
  if (!requireCluster(t)) return
  const there = await cluster()
  const victim = await newUser(serviceOf(there), await there.admin())
  const statuses = await Promise.all(
    Array.from({ length: 50 }, async (_, index) => {
      const base = there.nodes[index % 3]?.base ?? ''
      return (await new Visitor(base).signIn(victim.name, 'Wrong-Password-99')).status
    }),
  )
  assert.deepEqual(
    [401, 429].map(wanted => statuses.filter(status => status === wanted).length),
    [5, 45],
  )
  for (const base of [there.base, ...there.nodes.map(node => node.base)]) {
    assert.equal((await new Visitor(base).signIn(victim.name, victim.password)).status, 429)
  }
})

test('restarting nodes in turn under load loses no request: a stopping node reports not ready and serves until nginx uses the others', async t => {
  if (!requireCluster(t)) return
  const there = await cluster()
  const seed = proofSeed()
  const load = await prepareLoad(there, new Random(seed), () => false)
  load.begin()
  for (const [index, node] of there.nodes.entries()) {
    const before = load.tally.acknowledged
    const stopped = node.stop()
    const { status } = await until(
      () => new Visitor(node.base).get('management/ready'),
      answer => answer.status !== 200,
    )
    assert.equal(status, 503)
    await there.nginx.withhold(index)
    assert.equal(await stopped, 0)
    await node.start()
    await there.nginx.sendToAll()
    await eventually('the load goes on', () => load.check() && load.tally.acknowledged > before)
  }
  await load.end()
  assert.equal(load.tally.open, 0)
})

test('without a readiness check, nginx sends reads to another node while one stops or dies', async t => {
  if (!requireCluster(t)) return
  const there = await cluster()
  const admin = await there.admin()
  const [node] = there.nodes
  assert.ok(node)
  let reads = 0
  const over = new AbortController()
  const read = async (): Promise<void> => {
    while (!over.signal.aborted) {
      assert.equal((await admin.get('auth/user')).json()['user'], 'admin')
      reads++
    }
  }
  const readers = Promise.all(Array.from({ length: 4 }, read))
  for (const end of [() => node.stop(), () => node.kill()]) {
    const before = reads
    await end()
    await until(
      () => reads,
      count => count > before + 40,
    )
    await node.start()
  }
  over.abort()
  await readers
})

test('the shipped nginx configuration also serves TLS, and without TLS only leads there', async t => {
  if (!requireCluster(t)) return
  const { tls, plain } = (await cluster()).nginx
  const led = await ask(plain)
  assert.deepEqual([led.status, led.headers.location], [301, 'https://content.example/'])
  assert.equal((await ask(`${plain}auth/user`)).status, 403)
  const status = await new Promise((resolve, reject) => {
    request(`${tls.url}management/health`, { ca: tls.ca, agent: false }, answer => {
      answer.resume()
      resolve(answer.statusCode)
    })
      .on('error', reject)
      .end()
  })
  assert.equal(status, 200)
})
