import { resolve } from 'node:path'
import { exposedPaths, requireDataFolder, usesFolder } from './data-folder.ts'
import { redisCertificate } from './ephemeral-stores.ts'
import { tokenSecrets } from './sealing-keys.ts'
import { factorKeyFile } from './factor-key-file.ts'
import { requireNoLostFile } from './lost-database.ts'
import { nodeFacts } from './node.ts'
import { openDatabase, openBlobs } from './open-store.ts'
import { describeServer } from './stores.ts'
import { ServiceError, StartupError } from '../base/errors.ts'
import { createLog } from '../base/log.ts'
import { realSystem } from '../base/system.ts'
import type { Bytes, Milliseconds } from '../base/units.ts'
import type { Settings } from '../config/settings.ts'
import { measureDisk, spaceLimits } from '../stores/disk.ts'
import { maxOpenFiles } from '../stores/host-limits.ts'
import { isMissing, keyFingerprint, readKeyFile, requireKeyFile } from '../stores/key-file.ts'
import { clockAhead, liveNodes, MAX_CLOCK_OFFSET, type Misfit, misfitsOf } from '../stores/postgres/node-registry.ts'
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
    ...(await attempt(() => checkFolder(settings), unusableFolder)),
    ...(await checkLimits()),
    ...(await attempt(
      () => checkBucket(settings),
      reason => problem('bucket-unusable', 'files: {reason}', { reason }),
    )),
    ...(await attempt(
      () => checkDatabase(settings, version, keys.fingerprints),
      reason => problem('store-unusable', 'store: {reason}', { reason }),
    )),
    ...(await attempt(
      () => checkRedis(settings),
      reason => problem('redis-unusable', 'Redis: {reason}', { reason }),
    )),
    ...keys.found,
  ]
}

const unusableFolder = (reason: string): CheckResult =>
  problem('data-folder-unusable', 'data folder: {reason}', { reason })

/** An expected failure is a problem. */
async function attempt(
  runChecks: () => Promise<CheckResult[]>,
  problemOf: (reason: string) => CheckResult,
): Promise<CheckResult[]> {
  try {
    return await runChecks()
  } catch (error) {
    if (error instanceof StartupError || error instanceof ServiceError) return [problemOf(error.message)]
    throw error
  }
}

async function checkFolder(settings: Settings): Promise<CheckResult[]> {
  if (!usesFolder(settings)) return []
  const folder = resolve(settings['service.data.folder'])
  await requireDataFolder(settings)
  const lost = await attempt(() => checkLost(settings), unusableFolder)
  const disk = await measureDisk(folder).catch(() => undefined)
  if (!disk) return [ok('data-folder-new', 'data folder: {folder}, which the first start creates', { folder })]
  if (!disk.isWritable)
    return [
      problem('data-folder-read-only', 'data folder: this user cannot write to {folder}, or it is read-only', {
        folder,
      }),
    ]
  const exposed = await exposedPaths(folder)
  return [
    ok('data-folder', 'data folder: {folder}', { folder }),
    ...lost,
    ...exposed.map(path =>
      warning('data-folder-exposed', 'data folder: other users may read or change {path}; run chmod go-rwx on it', {
        path,
      }),
    ),
    describeSpace(disk),
  ]
}

async function checkLost(settings: Settings): Promise<CheckResult[]> {
  if (settings['service.repository.store.url'] === undefined) await requireNoLostFile(settings)
  return []
}

function describeSpace({ free, size }: { readonly free: Bytes; readonly size: Bytes }): CheckResult {
  const { low, full } = spaceLimits(size)
  if (free >= low) return ok('disk-free', 'disk of the data folder: {free, size} of {size, size} free', { free, size })
  if (free >= full)
    return warning(
      'disk-low',
      'disk of the data folder: only {free, size} of {size, size} free; make room before new data are refused',
      { free, size },
    )
  return problem(
    'disk-full',
    'disk of the data folder: only {free, size} of {size, size} free, so new data are refused; make room',
    { free, size },
  )
}

async function checkLimits(): Promise<CheckResult[]> {
  const files = await maxOpenFiles()
  if (files === undefined) return []
  if (files >= MIN_OPEN_FILES) return [ok('open-files', 'open files: at most {files}', { files })]
  return [
    warning('open-files-few', 'open files: at most {files}; raise LimitNOFILE (systemd) or ulimit -n to 65536', {
      files,
    }),
  ]
}

async function checkBucket(settings: Settings): Promise<CheckResult[]> {
  const place = settings['service.data.store']
  if (place === 'folder') return []
  await (await openBlobs(settings)).close()
  return [ok('bucket', 'files: {place}', { place })]
}

async function checkDatabase(
  settings: Settings,
  version: string,
  fingerprints: readonly string[],
): Promise<CheckResult[]> {
  const server = await describeServer(settings, realSystem)
  if (server === undefined) return []
  const found = [ok('database-server', 'store: PostgreSQL {version} at {place}', server)]
  const database = await openDatabase(settings, realSystem).catch((error: unknown) => {
    // There is none before the first start.
    if (error instanceof StartupError) return undefined
    throw error
  })
  if (!database) return found
  try {
    found.push(describeClock(await clockAhead(database, () => realSystem.now())))
    const factors = await factorFingerprints(settings, fingerprints)
    const own = nodeFacts(settings, version, { tokens: fingerprints, factors })
    for (const { id, facts } of await liveNodes(database)) {
      found.push(ok('node', 'node {id}: version {version}', { id, version: facts.version }))
      found.push(...misfitsOf(own, facts).map(misfit => describeMisfit(id, misfit)))
    }
  } finally {
    await database.close()
  }
  return found
}

/** @param ahead of the clock of the database, in milliseconds */
function describeClock(ahead: Milliseconds): CheckResult {
  if (Math.abs(ahead) <= MAX_CLOCK_OFFSET)
    return ok('database-clock', 'clock: differs by {ms} ms from that of the database', { ms: Math.abs(ahead) })
  const seconds = Math.round(Math.abs(ahead) / 1000)
  return ahead > 0
    ? problem('database-clock-behind', 'clock: {seconds} s ahead of that of the database; set both right', { seconds })
    : problem('database-clock-ahead', 'clock: {seconds} s behind that of the database; set both right', { seconds })
}

function describeMisfit(id: string, { of, own, other }: Misfit): CheckResult {
  const values = { id, own, other }
  if (of === 'token key')
    return problem('node-token-key', 'node {id}: the token key is {own} here and {other} there (fingerprints)', values)
  if (of === 'key of authenticator apps')
    return problem(
      'node-app-key',
      'node {id}: the key of authenticator apps is {own} here and {other} there (fingerprints)',
      values,
    )
  return problem('node-setting', 'node {id}: {key} is {own} here and {other} there', { ...values, key: of })
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
  return [ok('redis', 'Redis: {host}', { host: new URL(url).host })]
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
    if (refusal !== undefined) return { fingerprints: [], found: [unusableKey(refusal)] }
    return {
      fingerprints: [],
      found: [
        warning(
          'token-key-new',
          'token key: {file} does not exist; the first start creates it, and all nodes need the same',
          { file },
        ),
      ],
    }
  }
  try {
    const machine = { system: realSystem, log: createLog('silent'), adminPassword: undefined, tokenKey, version }
    const fingerprints = (await tokenSecrets(settings, machine)).map(keyFingerprint)
    const shown = ok('token-key', 'token key: fingerprint {fingerprints}', { fingerprints: fingerprints.join(', ') })
    return { fingerprints, found: [shown] }
  } catch (error) {
    if (!(error instanceof StartupError)) throw error
    return { fingerprints: [], found: [unusableKey(error.message)] }
  }
}

const unusableKey = (reason: string): CheckResult => problem('token-key-unusable', 'token key: {reason}', { reason })
