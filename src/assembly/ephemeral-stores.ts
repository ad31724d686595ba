import { BASIC_PREFIX, MAX_BASIC } from '../accounts/basic-credentials.ts'
import { LINK_PREFIX, UNKNOWN_NAME_PREFIX } from '../accounts/lockout.ts'
import { PENDING_PREFIX } from '../accounts/factors/pending-logins.ts'
import { TokenSealer } from '../accounts/tokens.ts'
import { StartupError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Milliseconds } from '../base/units.ts'
import type { Settings } from '../config/settings.ts'
import type { LivePart } from './live-settings.ts'
import type { RuntimeEnvironment } from './machine.ts'
import { FLOW_COUNT_PREFIX } from '../sso/login-flows.ts'
import type { Database } from '../stores/database.ts'
import { DatabaseEphemeralStore } from '../stores/database-ephemeral-store.ts'
import type { Capacity, EphemeralStore } from '../stores/ephemeral-store.ts'
import { parseKeys, readKeyFile } from '../stores/key-file.ts'
import { MemoryEphemeralStore } from '../stores/memory-ephemeral-store.ts'
import type { RedisEphemeralStore } from '../stores/redis/redis-ephemeral-store.ts'

/** Limits for data that unknown callers can cause. */
const capacity: readonly Capacity[] = [
  // Counts of wrong passwords for unknown names. Displacing a count by guessing more names takes an attacker hours.
  { prefix: UNKNOWN_NAME_PREFIX, max: 100_000 },
  // Counts of wrong passwords for public links, by link and network.
  { prefix: LINK_PREFIX, max: 100_000 },
  // Networks with sign-ons in progress. These counts also limit the sign-ons themselves.
  { prefix: FLOW_COUNT_PREFIX, max: 100_000 },
  { prefix: BASIC_PREFIX, max: MAX_BASIC },
  // Each needs the right password, or a sign-on at a provider.
  { prefix: PENDING_PREFIX, max: 100_000 },
]

/** How old the time of the last access may be in a store outside this process. */
const ACCESS_INTERVAL: Milliseconds = 60_000

/** The stores of sessions. */
interface Tokens {
  readonly store: EphemeralStore
  /** Absent for tokens in memory. */
  readonly sealer: TokenSealer | undefined
  readonly accessInterval: Milliseconds
}

export interface EphemeralStores {
  /** The store for all ephemeral data except sessions. */
  readonly ephemeral: EphemeralStore
  /** What is kept in the memory of this process in any case. */
  readonly ofProcess: EphemeralStore
  readonly tokens: Tokens
  /** The keys that seal tokens outside memory, which all nodes have; empty for tokens in memory. */
  readonly tokenKeys: readonly Uint8Array[]
  /** Deletes expired data where the database does not do it by itself. */
  readonly sweep: () => Promise<void>
  /** Puts another password or certificate for Redis in force. */
  readonly reload: LivePart
  readonly close: () => Promise<void>
}

/** Part of `assembly/server.ts`: the stores of ephemeral data. @throws {StartupError} */
export async function openEphemeralStores(
  settings: Settings,
  machine: RuntimeEnvironment,
  database: Database,
): Promise<EphemeralStores> {
  const { system, log } = machine
  const url = settings['service.cluster.redis.url']
  const kind = settings['service.auth.token.store']
  const secrets = kind === 'memory' ? [] : await tokenSecrets(settings, machine)
  const sealer = kind === 'memory' ? undefined : new TokenSealer(secrets, system)
  const inDatabase = new DatabaseEphemeralStore(database, system)
  const ofProcess = new MemoryEphemeralStore(system, { capacity })
  const inRedis = url === undefined ? undefined : await openInRedis(settings, url, log)
  const ephemeral = inRedis ?? ofProcess
  return {
    ephemeral,
    ofProcess,
    tokens: {
      // The settings have been checked: an address of Redis is set exactly when tokens are in Redis.
      store: kind === 'database' ? inDatabase : ephemeral,
      sealer,
      accessInterval: kind === 'memory' ? 0 : ACCESS_INTERVAL,
    },
    tokenKeys: secrets,
    sweep: () => inDatabase.sweep(),
    reload: async ({ next, changed }) => {
      const nextUrl = next['service.cluster.redis.url']
      if (!inRedis || nextUrl === undefined || !redisKeys.some(key => changed.has(key))) return undefined
      return await inRedis.renew(nextUrl, { certificate: redisCertificate(next) })
    },
    close: async () => {
      await ofProcess.close()
      if (ephemeral !== ofProcess) await ephemeral.close()
    },
  }
}

/** The client is loaded only where it is used, because it takes 8 MB. */
async function openInRedis(settings: Settings, url: string, log: Log): Promise<RedisEphemeralStore> {
  const { openRedisEphemeralStore } = await import('../stores/redis/redis-ephemeral-store.ts')
  const certificate = redisCertificate(settings)
  return await openRedisEphemeralStore(url, log, { capacity, certificate })
}

const redisKeys = [
  'service.cluster.redis.url',
  'service.cluster.redis.certificate-file',
  'service.cluster.redis.key-file',
] as const

/** What the service shows to Redis; the settings have been checked: both are set, or neither. */
export function redisCertificate(settings: Settings) {
  const certificateFile = settings['service.cluster.redis.certificate-file']
  const keyFile = settings['service.cluster.redis.key-file']
  return certificateFile === undefined || keyFile === undefined ? undefined : { certificateFile, keyFile }
}

export async function tokenSecrets(
  settings: Settings,
  { system, tokenKey }: Pick<RuntimeEnvironment, 'system' | 'tokenKey'>,
): Promise<Uint8Array[]> {
  const file = settings['service.auth.token.key-file']
  if ((file === undefined) === (tokenKey === undefined)) {
    throw new StartupError(
      `service.auth.token.store=${settings['service.auth.token.store']} keeps tokens outside memory, sealed: ` +
        'it needs either service.auth.token.key-file or the environment variable SERVICE_AUTH_TOKEN_KEY.',
    )
  }
  return file === undefined
    ? parseKeys((tokenKey ?? '').replaceAll(',', '\n'), 'SERVICE_AUTH_TOKEN_KEY')
    : await readKeyFile(file, system)
}
