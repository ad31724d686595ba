import { after } from 'node:test'
import { join } from 'node:path'
import { startRedis } from './peers/redis.ts'

/** `TOKENS=database` or `TOKENS=redis`: every service that a test starts keeps its logins there. */
const kind = process.env['TOKENS'] ?? 'memory'
const redis = kind === 'redis' ? await startRedis({ after }) : undefined
/** For tests that turn the service's clock until something ends that Redis keeps. */
export const skipForRedis = kind === 'redis' && 'Redis goes by a clock of its own'
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
