import { join } from 'node:path'
import type { Milliseconds } from '../../src/base/units.ts'
import { atProcessEnd } from './after.ts'
import { startRedis } from './peers/redis.ts'
import { age } from './redis-age.ts'

/** `TOKENS=database` or `TOKENS=redis`: every service that a test starts keeps its logins there. */
const kind = process.env['TOKENS'] ?? 'memory'
const redis = kind === 'redis' ? await startRedis({ after: atProcessEnd }) : undefined
/** The least time that a test can wait for: the clock of Redis goes on by itself while it does. */
export const TICK: Milliseconds = kind === 'redis' ? 60_000 : 1
const folders: string[] = []

/**
 * Settings for a service with this data folder, which finds its logins again when it is started once more. A test that
 * says itself where they are kept is left alone.
 */
export function tokenSettings(
  folder: string,
  given: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  if (kind === 'memory' || 'service.auth.token.store' in given) return {}
  const settings = {
    'service.auth.token.store': kind,
    'service.auth.token.key-file': join(folder, 'token.key'),
  }
  if (!redis) return settings
  if (!folders.includes(folder)) folders.push(folder)
  return { ...settings, 'service.cluster.redis.url': `${redis.url}${folders.indexOf(folder)}` }
}

/** Lets time pass for what Redis keeps of the service with this data folder. */
export function letTokensAge(folder: string, by: number): void {
  if (redis && folders.includes(folder)) age(redis, folders.indexOf(folder), by)
}
