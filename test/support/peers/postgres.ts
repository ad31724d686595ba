import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { appendFile, chmod, chown, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import { atProcessEnd } from '../after.ts'
import { freePort, type Test } from './peer-process.ts'
import type { Peer } from './peer.ts'

const programs = '/usr/lib/postgresql/15/bin'

export const postgres: Peer = {
  name: 'PostgreSQL 15',
  available: () => existsSync(join(programs, 'postgres')),
}

export interface PostgresServer {
  readonly pid: number
  readonly port: number
  readonly folder: string
}

const PASSWORD = 'Test-Password-12'
const ADDRESS = 'postgres://stowage'

/** The address of a database of a server. */
export const urlOf = ({ port }: Pick<PostgresServer, 'port'>, database: string): string =>
  `${ADDRESS}:${PASSWORD}@127.0.0.1:${port}/${database}`

/** Starts a server of one's own, as durable as in production, in a folder that is empty or was its own before. */
export async function startPostgres(folder: string, port: number, guardian = process.pid): Promise<PostgresServer> {
  const owner = postgresUser()
  const data = join(folder, 'data')
  if (!existsSync(data)) {
    if (owner) await chown(folder, owner.uid, owner.gid)
    await chmod(folder, 0o755)
    const password = join(folder, 'password')
    await writeFile(password, PASSWORD)
    // By default in an order that is not that of the bytes: that one must come from the schema.
    const locale = ['--locale-provider=icu', '--icu-locale=en-US', '--locale=C.UTF-8']
    const init = ['-D', data, '-U', 'stowage', '-A', 'scram-sha-256', `--pwfile=${password}`, '-E', 'UTF8', '--no-sync']
    run('initdb', [...init, ...locale], owner)
  }
  const settings = `-c listen_addresses=127.0.0.1 -p ${port} -k ${folder} -c fsync=on -c max_connections=300`
  run('pg_ctl', ['-D', data, '-l', join(folder, 'log'), '-s', '-w', '-o', settings, 'start'], owner)
  const pid = Number.parseInt(await readFile(join(data, 'postmaster.pid'), 'utf8'), 10)
  // The server ends with the process that started it.
  // What a test has stopped hears of nothing else before it goes on.
  const guard =
    'while kill -0 "$1" && kill -0 "$2"; do sleep 1; done; kill -CONT $(cat "/proc/$2/task/$2/children") "$2"; kill -QUIT "$2"'
  spawn('/bin/sh', ['-c', guard, 'sh', String(guardian), String(pid)], { stdio: 'ignore', detached: true }).unref()
  return { pid, port, folder }
}

/**
 * Lets only connections with TLS in, which show one of the certificates if there are any, except to the database `postgres`. Restarts the
 * server.
 */
export async function requireTls(
  server: PostgresServer,
  own: { readonly key: string; readonly cert: string },
  clients: readonly string[] = [],
): Promise<PostgresServer> {
  const { folder, port } = server
  await stopPostgres(server)
  const data = join(folder, 'data')
  const owner = postgresUser()
  const files = { 'server.crt': own.cert, 'server.key': own.key, 'clients.crt': clients.join('') }
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(data, name), text, { mode: 0o600 })
    if (owner) await chown(join(data, name), owner.uid, owner.gid)
  }
  const showsCertificate = clients.length > 0
  const settings = ['ssl = on', ...(showsCertificate ? ["ssl_ca_file = 'clients.crt'"] : [])]
  await appendFile(join(data, 'postgresql.conf'), `\n${settings.join('\n')}\n`)
  const others = `hostssl all all all scram-sha-256${showsCertificate ? ' clientcert=verify-ca' : ''}`
  const rules = ['host postgres all all scram-sha-256', others]
  await writeFile(join(data, 'pg_hba.conf'), `${rules.join('\n')}\n`)
  return await startPostgres(folder, port)
}

/** Ends a server: `SIGINT` in good order, `SIGQUIT` like a crash. Its folder stays. */
export async function stopPostgres({ pid }: PostgresServer, signal: 'SIGINT' | 'SIGQUIT' = 'SIGINT'): Promise<void> {
  process.kill(pid, signal)
  while (existsSync(`/proc/${pid}`)) await pause(10)
}

/** Stops the server and every process of it in their tracks, or lets them go on. */
export async function signalPostgres({ pid }: PostgresServer, signal: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  for (const one of [...children.trim().split(' ').filter(Boolean).map(Number), pid]) {
    try {
      process.kill(one, signal)
    } catch {
      // A process of one connection ends with it.
    }
  }
}

/** A server for one test, with a folder that goes with it. */
export async function ownPostgres(t: Test): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), 'stowage-postgres-'))
  const server = await startPostgres(folder, await freePort())
  t.after(async () => {
    const pid = Number.parseInt(await readFile(join(folder, 'data/postmaster.pid'), 'utf8').catch(() => ''), 10)
    if (Number.isInteger(pid)) await stopPostgres({ ...server, pid }, 'SIGQUIT')
    await rm(folder, { recursive: true, force: true })
  })
  return server
}

/** The server that all files of a run of tests share; the first to ask starts it, and it ends with the run. */
export function sharedPostgres(): Promise<Pick<PostgresServer, 'port'>> {
  shared ??= findOrStart()
  return shared
}

let shared: Promise<Pick<PostgresServer, 'port'>> | undefined

async function findOrStart(): Promise<Pick<PostgresServer, 'port'>> {
  // Each file of tests is a process of its own, a child of the one that runs them all.
  const guardian = process.env['NODE_TEST_CONTEXT'] === undefined ? process.pid : process.ppid
  const folder = join(tmpdir(), `stowage-postgres-run-${guardian}`)
  const ready = join(folder, 'ready')
  try {
    await mkdir(folder)
  } catch {
    for (let tries = 0; tries < 6000; tries++) {
      const port = Number(await readFile(ready, 'utf8').catch(() => ''))
      if (port > 0) return { port }
      await pause(20)
    }
    throw new Error(`no server came up in ${folder}`)
  }
  const server = await startPostgres(folder, await freePort(), guardian)
  const guard = 'while kill -0 "$1"; do sleep 1; done; rm -rf "$2"'
  spawn('/bin/sh', ['-c', guard, 'sh', String(server.pid), folder], { stdio: 'ignore', detached: true }).unref()
  await writeFile(`${ready}.new`, String(server.port))
  await rename(`${ready}.new`, ready)
  return server
}

let numbers = 0
const made = new Set<string>()

/** The address of a new database on the shared server, or of the one that goes by this name already. */
export async function postgresDatabase(name = `t${process.pid}_${++numbers}`): Promise<string> {
  const server = await sharedPostgres()
  if (!made.has(name)) {
    made.add(name)
    await administer(server, `CREATE DATABASE ${name}`)
    if (made.size === 1) atProcessEnd(dropAll)
  }
  return urlOf(server, name)
}

/** The database that belongs to a data folder. */
export const databaseOfFolder = (folder: string): Promise<string> =>
  postgresDatabase(`f${createHash('sha256').update(folder).digest('hex').slice(0, 20)}`)

async function dropAll(): Promise<void> {
  for (const name of made) await administer(await sharedPostgres(), `DROP DATABASE ${name} WITH (FORCE)`)
}

/** A statement as the server's owner. */
export async function administer(
  server: Pick<PostgresServer, 'port'>,
  text: string,
  database = 'postgres',
): Promise<readonly unknown[]> {
  const client = new Client({ connectionString: urlOf(server, database) })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

interface Account {
  readonly uid: number
  readonly gid: number
}

/** The server refuses to run as root. */
export function postgresUser(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined
  const id = (flag: string): number => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout)
  return { uid: id('-u'), gid: id('-g') }
}

function run(program: string, args: readonly string[], as: Account | undefined): void {
  const { status, stdout, stderr } = spawnSync(join(programs, program), args, { ...as, cwd: '/', encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program}:\n${stdout}${stderr}`)
}
