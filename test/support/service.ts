import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createInterface } from 'node:readline'
import { createLog } from '../../src/base/log.ts'
import { loadSettings } from '../../src/config/load.ts'
import { blobSettings } from './blobs.ts'
import { FakeSystem } from './fake-system.ts'
import { OwnHasher } from './hashes.ts'
import { Visitor } from './http-client.ts'
import { copyTables, storeSettings } from './store.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { eventually } from './waiting.ts'
import type { RuntimeEnvironment } from '../../src/core/machine.ts'
import { createServer } from '../../src/assembly/server.ts'
import { letTokensAge, tokenSettings } from './token-store.ts'

/** The part of node:test's context that is used here. */
interface Test {
  after(work: () => Promise<void>): void
}

export const ADMIN_PASSWORD = 'admin-Password-12'

export const repository = fileURLToPath(new URL('../../', import.meta.url))
export const program = fileURLToPath(new URL('../../bin/stowage.js', import.meta.url))

export interface Service {
  readonly base: string
  readonly folder: string
  /** A new visitor without a session. */
  visitor(): Visitor
  /** A new visitor signed in as admin. */
  admin(): Promise<Visitor>
}

export interface Process extends Service {
  readonly pid: number
  /** The lines printed so far, standard output and log. */
  readonly output: () => string
  /** The lines of the log so far. */
  log<Line>(): readonly Line[]
  /** Resolves when this has been printed: the log may arrive later than the response of the request that it is about. */
  prints(text: RegExp): Promise<void>
  /** Sends a signal and resolves to the exit status. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

export interface Start {
  readonly settings?: Readonly<Record<string, string>>
  /** An existing data folder; by default a new one, removed after the test. */
  readonly folder?: string
  /** Added to the environment of the test; `undefined` removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Hashes passwords at the configured cost, for tests about hashing; other tests use cheap hashes. */
  readonly realHashes?: boolean
}

/**
 * The program in its own process, on a free port.
 * @param start `tracer` is a command that runs the program as its own process
 */
export async function startProcess(
  t: Test,
  { settings = {}, folder, env = {}, tracer = [] }: Start & { readonly tracer?: readonly string[] } = {},
): Promise<Process> {
  const data = folder ?? (await temporaryFolder())
  const stores = { ...(await storeSettings(data)), ...blobSettings(data), ...tokenSettings(data, settings) }
  const all = { 'service.http.port': '0', 'service.data.folder': data, ...stores, ...settings }
  const sets = Object.entries(all).flatMap(([key, value]) => ['--set', `${key}=${value}`])
  const [command = '', ...args] = [...tracer, process.execPath, program, 'serve', ...sets]
  const child = spawn(command, args, {
    cwd: data,
    env: { ...process.env, SERVICE_ADMIN_PASSWORD: ADMIN_PASSWORD, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // Waits until all its output has arrived.
  const exited = once(child, 'close') as Promise<[number | null]>
  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> => {
    child.kill(signal)
    return (await exited)[0]
  }
  t.after(async () => void (await stop('SIGKILL')))

  let output = ''
  createInterface(child.stderr).on('line', line => (output += `${line}\n`))
  const base = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', line => {
      output += `${line}\n`
      const address = /serves (\S+)/.exec(line)?.[1]
      if (address !== undefined) resolve(address)
    })
    child.once('close', () => reject(new Error(`the service did not start:\n${output}`)))
  })
  assert.ok(child.pid !== undefined)
  return {
    ...serviceAt(base, data),
    pid: child.pid,
    output: () => output,
    log: <Line>() =>
      output
        .split('\n')
        .filter(line => line.startsWith('{'))
        .map(line => JSON.parse(line) as Line),
    prints: text => eventually(`${text} is printed`, () => text.test(output)),
    stop,
  }
}

export interface InProcess extends Service {
  /** The clock; the test lets time pass. */
  readonly system: FakeSystem
  close(): Promise<void>
}

let nodes = 0

const CHEAP_HASHES = { memory: 64, iterations: 1, parallelism: 1 }

/** The service inside the test's own process, with a clock that the test moves; reached over a real socket. */
export async function startInProcess(
  t: Test,
  {
    settings = {},
    folder,
    realHashes = false,
    ...rest
  }: Omit<Start, 'env'> & {
    readonly adminPassword?: string | undefined
    /** In place of cheap hashes: see {@link RuntimeEnvironment}. */
    readonly hashing?: RuntimeEnvironment['hashing']
  } = {},
): Promise<InProcess> {
  const data = folder ?? (await temporaryFolder())
  const stores = { ...(await storeSettings(data)), ...blobSettings(data), ...tokenSettings(data, settings) }
  const all = { 'service.http.port': '0', 'service.data.folder': data, ...stores, ...settings }
  if (folder === undefined && !('service.repository.store.url' in all)) await copyTables(data)
  const overrides = Object.entries(all).map(([key, value]) => `${key}=${value}`)
  // Nodes that share a folder draw different numbers.
  const system = new FakeSystem(`${data}/${++nodes}`, duration => letTokensAge(data, duration))
  const log = createLog('silent')
  const areCheap = !realHashes && !Object.keys(settings).some(key => key.includes('argon2'))
  const server = await createServer(loadSettings({ overrides }).settings, {
    system,
    log,
    version: '0.0.0',
    adminPassword: 'adminPassword' in rest ? rest.adminPassword : ADMIN_PASSWORD,
    hashing: rest.hashing ?? (areCheap ? { cost: CHEAP_HASHES, hasher: new OwnHasher() } : undefined),
  })
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => (closing ??= server.close())
  t.after(close)
  return { ...serviceAt(await server.listen(), data), system, close }
}

/** Sets the clock of a service to that of the machine, which other programs go by. */
export const setClock = ({ system }: InProcess): void => system.jump(Date.now() - system.now())

function serviceAt(base: string, folder: string): Service {
  return {
    base,
    folder,
    visitor: () => new Visitor(base),
    async admin() {
      const visitor = new Visitor(base)
      const answer = await visitor.signIn('admin', ADMIN_PASSWORD)
      assert.equal(answer.status, 200, answer.text)
      return visitor
    },
  }
}

let names = 0

/** Creates a user and signs in as that user. */
export async function newUser(
  service: Service,
  admin: Visitor,
  password = 'Good-Password-12',
): Promise<{ readonly id: string; readonly name: string; readonly password: string; readonly visitor: Visitor }> {
  const name = `user${++names}`
  const created = await admin.post('_principals?graphtype=user', { resource: { name, password } })
  assert.equal(created.status, 201, created.text)
  const visitor = service.visitor()
  assert.equal((await visitor.signIn(name, password)).status, 200)
  return { id: created.json<{ entryId: string }>().entryId, name, password, visitor }
}

/** Creates a context, by default one that only administrators may use. */
export async function newContext(admin: Visitor, owners: readonly string[] = []): Promise<string> {
  const created = await admin.post('_contexts?graphtype=context')
  assert.equal(created.status, 201, created.text)
  const { entryId } = created.json<{ entryId: string }>()
  const write = owners.map(owner => ({ type: 'uri', value: `${admin.base}_principals/resource/${owner}` }))
  const info = { [`${admin.base}_contexts/entry/${entryId}`]: { 'http://entrystore.org/terms/write': write } }
  if (owners.length > 0) assert.equal((await admin.put(`_contexts/entry/${entryId}`, info)).status, 204)
  return entryId
}

/** Creates an entry and returns its id. */
export async function newEntry(visitor: Visitor, context: string, query = '', body?: unknown): Promise<string> {
  const created = await visitor.post(`${context}${query}`, body)
  assert.equal(created.status, 201, created.text)
  return created.json<{ entryId: string }>().entryId
}
