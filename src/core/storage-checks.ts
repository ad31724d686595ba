import { resolve } from 'node:path'
import { exposedPaths, requireDataFolder, usesFolder } from './data-folder.ts'
import { redisCertificate } from './ephemeral-stores.ts'
import { tokenSecrets } from './sealing-keys.ts'
import { factorKeyFile } from './factor-key-file.ts'
import { nodeFacts } from './node.ts'
import { openDatabase, openBlobs } from './open-store.ts'
import { describeServer } from './stores.ts'
import { ServiceError, StartupError } from '../base/errors.ts'
import { createLog } from '../base/log.ts'
import { realSystem } from '../base/system.ts'
import type { Bytes } from '../base/units.ts'
import type { Settings } from '../config/settings.ts'
import { measureDisk, spaceLimits } from '../stores/disk.ts'
import { maxOpenFiles } from '../stores/host-limits.ts'
import { isMissing, keyFingerprint, readKeyFile, requireKeyFile } from '../stores/key-file.ts'
import { clockAhead, liveNodes, MAX_CLOCK_OFFSET, misfitsOf } from '../stores/postgres/node-registry.ts'
import { type CheckResult, ok, problem, warning } from './check-result.ts'

interface Subject {
  readonly settings: Settings
  readonly tokenKey: string | undefined
  /** Of this program. */
  readonly version: string
}

/** Each connection and each open file takes one. */
const MIN_OPEN_FILES = 4096

/** Folder, disk, limits, databases, keys and the other nodes. Nothing is created. */
export async function checkStorage({ settings, tokenKey, version }: Subject): Promise<CheckResult[]> {
  const keys = await checkKeys({ settings, tokenKey, version })
  return [
    ...(await attempt('data folder', () => checkFolder(settings))),
    ...(await checkLimits()),
    ...(await attempt('files', () => checkBucket(settings))),
    ...(await attempt('store', () => checkDatabase(settings, version, keys.fingerprints))),
    ...(await attempt('Redis', () => checkRedis(settings))),
    ...keys.found,
  ]
}

/** An expected failure is a problem under this title. */
async function attempt(title: string, runChecks: () => Promise<CheckResult[]>): Promise<CheckResult[]> {
  try {
    return await runChecks()
  } catch (error) {
    if (error instanceof StartupError || error instanceof ServiceError) return [problem(`${title}: ${error.message}`)]
    throw error
  }
}

async function checkFolder(settings: Settings): Promise<CheckResult[]> {
  if (!usesFolder(settings)) return []
  const folder = resolve(settings['service.data.folder'])
  await requireDataFolder(settings)
  const disk = await measureDisk(folder).catch(() => undefined)
  if (!disk) return [ok(`data folder: ${folder}, which the first start creates`)]
  if (!disk.isWritable) return [problem(`data folder: this user cannot write to ${folder}, or it is read-only`)]
  const exposed = await exposedPaths(folder)
  const free = `${inMebibytes(disk.free)} of ${inMebibytes(disk.size)} are free on the disk of the data folder`
  const { low, full } = spaceLimits(disk.size)
  return [
    ok(`data folder: ${folder}`),
    ...exposed.map(path => warning(`data folder: other users may read or change ${path}; run chmod go-rwx on it`)),
    disk.free < full ? problem(`${free}: new data are refused`) : disk.free < low ? warning(free) : ok(free),
  ]
}

const inMebibytes = (bytes: Bytes): string => `${Math.floor(bytes / 2 ** 20)} MiB`

async function checkLimits(): Promise<CheckResult[]> {
  const files = await maxOpenFiles()
  if (files === undefined) return []
  const text = `open files: at most ${files}`
  return [files < MIN_OPEN_FILES ? warning(`${text}; raise LimitNOFILE (systemd) or ulimit -n to 65536`) : ok(text)]
}

async function checkBucket(settings: Settings): Promise<CheckResult[]> {
  const place = settings['service.data.store']
  if (place === 'folder') return []
  await (await openBlobs(settings)).close()
  return [ok(`files: ${place}`)]
}

async function checkDatabase(
  settings: Settings,
  version: string,
  fingerprints: readonly string[],
): Promise<CheckResult[]> {
  const server = await describeServer(settings, realSystem)
  if (server === undefined) return []
  const found = [ok(`store: ${server}`)]
  const database = await openDatabase(settings, realSystem).catch((error: unknown) => {
    // There is none before the first start.
    if (error instanceof StartupError) return undefined
    throw error
  })
  if (!database) return found
  try {
    const ahead = await clockAhead(database, () => realSystem.now())
    const clock = `clock: ${Math.abs(ahead)} ms ${ahead < 0 ? 'behind' : 'ahead of'} that of the database`
    found.push(Math.abs(ahead) > MAX_CLOCK_OFFSET ? problem(clock) : ok(clock))
    const factors = await factorFingerprints(settings, fingerprints)
    const own = nodeFacts(settings, version, { tokens: fingerprints, factors })
    for (const { id, facts } of await liveNodes(database)) {
      const misfits = misfitsOf(own, facts)
      found.push(ok(`node ${id}: version ${facts.version}`), ...misfits.map(text => problem(`node ${id}: ${text}`)))
    }
  } finally {
    await database.close()
  }
  return found
}

/** `undefined` while their file is missing or unusable, which is reported elsewhere. */
async function factorFingerprints(
  settings: Settings,
  tokens: readonly string[],
): Promise<readonly string[] | undefined> {
  const file = factorKeyFile(settings)
  if (file === undefined) return tokens
  if (await isMissing(file)) return undefined
  return await readKeyFile(file, realSystem).then(
    keys => keys.map(keyFingerprint),
    () => undefined,
  )
}

async function checkRedis(settings: Settings): Promise<CheckResult[]> {
  const url = settings['service.cluster.redis.url']
  if (url === undefined) return []
  const { openRedisEphemeralStore } = await import('../stores/redis/redis-ephemeral-store.ts')
  const store = await openRedisEphemeralStore(url, createLog('silent'), {
    capacity: [],
    certificate: redisCertificate(settings),
  })
  await store.close()
  return [ok(`Redis: ${new URL(url).host}`)]
}

async function checkKeys({
  settings,
  tokenKey,
  version,
}: Subject): Promise<{ readonly fingerprints: readonly string[]; readonly found: readonly CheckResult[] }> {
  if (settings['service.auth.token.store'] === 'memory') return { fingerprints: [], found: [] }
  const file = settings['service.auth.token.key-file']
  if (file !== undefined && tokenKey === undefined && (await isMissing(file))) {
    const refusal = await requireKeyFile(file, settings['service.data.folder']).then(
      () => undefined,
      (error: Error) => error.message,
    )
    if (refusal !== undefined) return { fingerprints: [], found: [problem(`token key: ${refusal}`)] }
    const text = `token key: ${file} does not exist; the first start creates it, and all nodes need the same`
    return { fingerprints: [], found: [warning(text)] }
  }
  try {
    const machine = { system: realSystem, log: createLog('silent'), adminPassword: undefined, tokenKey, version }
    const fingerprints = (await tokenSecrets(settings, machine)).map(keyFingerprint)
    return { fingerprints, found: [ok(`token key: fingerprint ${fingerprints.join(', ')}`)] }
  } catch (error) {
    if (!(error instanceof StartupError)) throw error
    return { fingerprints: [], found: [problem(`token key: ${error.message}`)] }
  }
}
