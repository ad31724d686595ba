import { join } from 'node:path'
import { Client } from 'pg'
import { stowage } from './cli.ts'
import { Visitor } from './http-client.ts'
import { type CephGateway, cephGateway, startCephGateway } from './peers/ceph-gateway.ts'
import { nginx, type Nginx, startNginx } from './peers/nginx.ts'
import { requirePeer } from './peers/peer.ts'
import { freePort, type Test } from './peers/peer-process.ts'
import { administer, ownPostgres, postgres, type PostgresServer, urlOf } from './peers/postgres.ts'
import { redis, type RedisServer, startRedis } from './peers/redis.ts'
import { ADMIN_PASSWORD, type Process, startProcess } from './service.ts'
import { temporaryFolder } from './temporary-folder.ts'

const NODES = 3

/** Three real nodes behind nginx, with rows in PostgreSQL, files in a bucket, logins and lockouts in Redis. */
export interface Cluster {
  /** The address for clients. */
  readonly base: string
  readonly nodes: readonly Node[]
  readonly nginx: Nginx
  readonly postgres: PostgresServer
  readonly redis: RedisServer
  readonly s3: CephGateway
  /** Signed in as admin by way of nginx. */
  readonly admin: () => Promise<Visitor>
  /** One row of the database. */
  look(text: string): Promise<Readonly<Record<string, unknown>>>
  /** What `stowage fsck` prints. */
  fsck(): Promise<string>
}

export interface Node {
  readonly base: string
  /** Starts it where it was before, and resolves when it serves. */
  start(): Promise<void>
  /** Sends a signal to stop, and resolves to the exit status. */
  stop(): Promise<number | null>
  /** Kills the node. */
  kill(): Promise<void>
  /** What all its processes have printed. */
  output(): string
}

/** True if the servers for a cluster are there; see `requirePeer`. */
export const requireCluster = (t: { skip(message: string): void }): boolean =>
  [postgres, redis, cephGateway, nginx].every(peer => requirePeer(t, peer))

export async function startCluster(t: Test, more: Readonly<Record<string, string>> = {}): Promise<Cluster> {
  const [rows, logins, s3] = await Promise.all([ownPostgres(t), startDurableRedis(t), startCephGateway(t)])
  await administer(rows, 'CREATE DATABASE stowage')
  const port = await freePort()
  const base = `http://127.0.0.1:${port}/`
  const settings = {
    'service.baseurl.folder': base,
    'service.http.trusted-proxies.1': '127.0.0.1/32',
    'service.repository.store.url': urlOf(rows, 'stowage'),
    'service.data.store': `s3://${s3.bucket}/cluster`,
    'service.cluster.redis.url': logins.url,
    'service.auth.token.store': 'redis',
    'service.data.quota': 'on',
    'service.log.level': 'warn',
    ...more,
  }
  const env = { ...s3.env, SERVICE_AUTH_TOKEN_KEY: Buffer.alloc(32, 7).toString('base64') }
  const ports: number[] = []
  for (let count = 0; count < NODES; count++) ports.push(await freePort())
  const nodes = await Promise.all(ports.map(own => startNode(t, own, settings, env)))
  const proxy = await startNginx(t, { nodes: ports, port })
  const folder = await temporaryFolder()
  return {
    base,
    nodes,
    nginx: proxy,
    postgres: rows,
    redis: logins,
    s3,
    async admin() {
      const visitor = new Visitor(base)
      const { status, text } = await visitor.signIn('admin', ADMIN_PASSWORD)
      if (status !== 200) throw new Error(`${status} ${text}`)
      return visitor
    },
    look: text => look(urlOf(rows, 'stowage'), text),
    async fsck() {
      const all = { ...settings, 'service.data.folder': join(folder, 'data') }
      const sets = Object.entries(all).flatMap(([key, value]) => ['--set', `${key}=${value}`])
      const { stdout, stderr } = await stowage(folder, ['fsck', ...sets], env)
      return stdout + stderr
    },
  }
}

/** Durable, so that it keeps confirmed data after a crash: the tests are about the nodes, not about Redis. */
async function startDurableRedis(t: Test): Promise<RedisServer> {
  const folder = await temporaryFolder()
  return await startRedis(t, { args: ['--appendonly', 'yes', '--appendfsync', 'always', '--dir', folder] })
}

async function startNode(
  t: Test,
  port: number,
  settings: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>>,
): Promise<Node> {
  const folder = await temporaryFolder()
  const own = { ...settings, 'service.http.port': String(port) }
  const processes: Process[] = []
  const start = async (): Promise<void> => {
    processes.push(await startProcess(t, { folder, settings: own, env }))
  }
  await start()
  return {
    base: `http://127.0.0.1:${port}/`,
    start,
    stop: async () => (await processes.at(-1)?.stop()) ?? null,
    kill: async () => void (await processes.at(-1)?.stop('SIGKILL')),
    output: () => processes.map(({ output }) => output()).join(''),
  }
}

async function look(url: string, text: string): Promise<Readonly<Record<string, unknown>>> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = (await client.query(text)) as { rows: ReadonlyArray<Record<string, unknown>> }
    return rows[0] ?? {}
  } finally {
    await client.end()
  }
}
