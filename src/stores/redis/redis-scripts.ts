import { createHash } from 'node:crypto'
import type { RedisConnection } from './redis-connection.ts'

/** A Lua script that the server runs atomically and caches under its digest. */
interface Script {
  readonly text: string
  readonly digest: string
}

const script = (text: string): Script => ({ text, digest: createHash('sha1').update(text).digest('hex') })

/**
 * Keys of a limited kind are listed in a sorted set, KEYS[2], under the time they expire at, so that expired ones are
 * deleted with the next insertion and those that expire first are dropped.
 */
const bounds = `
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function note(ttl, max)
  if not KEYS[2] then return end
  local present = now()
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', present)
  redis.call('ZADD', KEYS[2], present + ttl, KEYS[1])
  local surplus = redis.call('ZCARD', KEYS[2]) - max
  if surplus <= 0 then return end
  for index, key in ipairs(redis.call('ZPOPMIN', KEYS[2], surplus)) do
    if index % 2 == 1 then redis.call('DEL', key) end
  end
end
local function forget()
  if KEYS[2] then redis.call('ZREM', KEYS[2], KEYS[1]) end
end
`

/** ARGV: value, lifetime, maximum. Returns 1, or 0 when the key is present. */
export const addScript = script(`${bounds}
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 0 end
note(tonumber(ARGV[2]), tonumber(ARGV[3]))
return 1`)

/**
 * ARGV: the expected value, the new one, its lifetime, maximum; '' for no value, and for an unchanged lifetime.
 * Returns 1, or the present value when it differs from the expected one.
 */
export const swapScript = script(`${bounds}
local present = redis.call('GET', KEYS[1]) or ''
if present ~= ARGV[1] then return present end
if ARGV[2] == '' then
  redis.call('DEL', KEYS[1])
  forget()
elseif ARGV[3] == '' then
  redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
else
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
  note(tonumber(ARGV[3]), tonumber(ARGV[4]))
end
return 1`)

/** Returns the value and deletes it. */
export const takeScript = script(`${bounds}
forget()
return redis.call('GETDEL', KEYS[1])`)

/** Sends the text of the script if the server does not have it yet. */
export async function runScript(
  redis: RedisConnection,
  { text, digest }: Script,
  keys: readonly string[],
  values: readonly string[] = [],
): Promise<unknown> {
  const rest = [String(keys.length), ...keys, ...values]
  try {
    return await redis.command('EVALSHA', digest, ...rest)
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
    return await redis.command('EVAL', text, ...rest)
  }
}
