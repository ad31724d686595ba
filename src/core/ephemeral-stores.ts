import { TokenSealer } from '../accounts/tokens.ts'
import type { Log } from '../base/log.ts'
import type { Milliseconds } from '../base/units.ts'
import type { Settings } from '../config/settings.ts'
import type { Reload } from './reload.ts'
import type { RuntimeEnvironment } from './machine.ts'
import type { Database } from '../stores/database.ts'
import { DatabaseEphemeralStore } from '../stores/database-ephemeral-store.ts'
import type { Capacity, EphemeralStore } from '../stores/ephemeral-store.ts'
import { tokenSecrets } from './sealing-keys.ts'
import { MemoryEphemeralStore } from '../stores/memory-ephemeral-store.ts'
import type { RedisEphemeralStore } from '../stores/redis/redis-ephemeral-store.ts'

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
  /** Data that is always kept in the memory of this process. */
  readonly ofProcess: EphemeralStore
  readonly tokens: Tokens
  /** The keys that seal tokens outside memory, which all nodes have; empty for tokens in memory. */
  readonly tokenKeys: readonly Uint8Array[]
  /** Deletes expired data where the database does not do it by itself. */
  readonly sweep: () => Promise<void>
  /** Puts another password or certificate for Redis in force. */
  readonly reload: Reload
  readonly close: () => Promise<void>
}

/** @param capacity limits for data that unknown callers can cause @throws {StartupError} */
export async function openEphemeralStores(
  settings: Settings,
  machine: RuntimeEnvironment,
  { database, capacity }: { readonly database: Database; readonly capacity: readonly Capacity[] },
): Promise<EphemeralStores> {
  const { system, log } = machine
  const url = settings['service.cluster.redis.url']
  const kind = settings['service.auth.token.store']
  const secrets = kind === 'memory' ? [] : await tokenSecrets(settings, machine)
  const sealer = kind === 'memory' ? undefined : new TokenSealer(secrets, system)
  const inDatabase = new DatabaseEphemeralStore(database, system)
  const ofProcess = new MemoryEphemeralStore(system, { capacity })
  const inRedis = url === undefined ? undefined : await openInRedis(settings, url, { log, capacity })
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
async function openInRedis(
  settings: Settings,
  url: string,
  { log, capacity }: { readonly log: Log; readonly capacity: readonly Capacity[] },
): Promise<RedisEphemeralStore> {
  const { openRedisEphemeralStore } = await import('../stores/redis/redis-ephemeral-store.ts')
  const certificate = redisCertificate(settings)
  return await openRedisEphemeralStore(url, log, { capacity, certificate })
}

const redisKeys = [
  'service.cluster.redis.url',
  'service.cluster.redis.certificate-file',
  'service.cluster.redis.key-file',
] as const

/** The client certificate that the service shows to Redis. The settings have been checked: both keys are set, or neither. */
export function redisCertificate(settings: Settings) {
  const certificateFile = settings['service.cluster.redis.certificate-file']
  const keyFile = settings['service.cluster.redis.key-file']
  return certificateFile === undefined || keyFile === undefined ? undefined : { certificateFile, keyFile }
}
