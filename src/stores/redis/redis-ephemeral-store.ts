import { KeyedMutex } from '../../base/semaphore.ts'
import type { Log } from '../../base/log.ts'
import type { Prepared } from '../../base/prepared.ts'
import type { Milliseconds } from '../../base/units.ts'
import { Overloaded } from '../../base/errors.ts'
import type { CachedValue, Capacity, EphemeralStore } from '../ephemeral-store.ts'
import { connectRedis, type RedisConnection, type RedisConnectionOptions } from './redis-connection.ts'
import { createHash } from 'node:crypto'

interface RedisEphemeralStoreOptions extends RedisConnectionOptions {
  /** Limits for data that strangers can create in any number. The first matching prefix applies. */
  readonly capacity?: readonly Capacity[]
}

/** Prefix of all our keys. */
const PREFIX = 'stowage:'
/** Prefix of the sorted sets that limit the number of keys; no pattern for the keys themselves matches it. */
const BOUND_PREFIX = 'stowage-bound:'
/** Keys per step of `scan`. */
const SLICE = 500
/** Only other nodes can interfere, each with one change of a key at a time: this is much larger than the number of nodes. */
const MAX_TRIES = 200

/**
 * Opens an ephemeral store in Redis or Valkey, 7 or later: one server or one primary, no Redis Cluster. Values expire by the
 * server's clock. Every operation rejects with `StoreUnavailable` while the server is down.
 * @throws {StartupError}
 */
export async function openRedisEphemeralStore(
  url: string,
  log: Log,
  options: RedisEphemeralStoreOptions = {},
): Promise<RedisEphemeralStore> {
  return new RedisEphemeralStore(await connectRedis(url, log, options), options)
}

export class RedisEphemeralStore implements EphemeralStore {
  readonly #redis: RedisConnection
  readonly #capacity: readonly Capacity[]
  readonly #changing = new KeyedMutex()

  constructor(redis: RedisConnection, { capacity = [] }: RedisEphemeralStoreOptions) {
    this.#redis = redis
    this.#capacity = capacity
  }

  async get<T>(key: string): Promise<T | undefined> {
    return parse<T>(await this.#redis.command('GET', PREFIX + key))
  }

  async add<T>(key: string, value: T, ttl: Milliseconds): Promise<boolean> {
    const text = JSON.stringify(value)
    const bound = this.#bound(key)
    if (!bound) return (await this.#redis.command('SET', PREFIX + key, text, 'NX', 'PX', whole(ttl))) === 'OK'
    const added = await runScript(
      this.#redis,
      addScript,
      [PREFIX + key, BOUND_PREFIX + bound.prefix],
      [text, whole(ttl), String(bound.max)],
    )
    return added === 1
  }

  /** Serialised within this process, so that requests for a popular key do not conflict with each other. */
  update<T>(key: string, change: (old: T | undefined) => CachedValue<T> | undefined): Promise<T | undefined> {
    return this.#changing.run(key, async () => {
      let seen = textOf(await this.#redis.command('GET', PREFIX + key))
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const kept = change(parse<T>(seen))
        const present = await this.#swap(key, seen, kept)
        if (present === 1) return kept?.value
        seen = textOf(present)
      }
      throw new Overloaded('Conflicting writes to the store of sessions. Try again in 1 second.')
    })
  }

  async take<T>(key: string): Promise<T | undefined> {
    const bound = this.#bound(key)
    if (!bound) return parse<T>(await this.#redis.command('GETDEL', PREFIX + key))
    return parse<T>(await runScript(this.#redis, takeScript, [PREFIX + key, BOUND_PREFIX + bound.prefix]))
  }

  async *scan<T>(prefix: string): AsyncIterable<readonly [key: string, value: T]> {
    for await (const keys of this.#keys(prefix)) {
      const values = keys.length === 0 ? [] : ((await this.#redis.command('MGET', ...keys)) as unknown[])
      for (const [index, key] of keys.entries()) {
        const value = parse<T>(values[index])
        if (value !== undefined) yield [key.slice(PREFIX.length), value]
      }
    }
  }

  async count(prefix: string): Promise<number> {
    let live = 0
    for await (const keys of this.#keys(prefix)) live += keys.length
    return live
  }

  /** Uses another password or certificate. @throws {StartupError} */
  async renew(url: string, options: RedisConnectionOptions): Promise<Prepared> {
    return await this.#redis.renew(url, options)
  }

  async close(): Promise<void> {
    await this.#redis.close()
  }

  /** The server's own keys, a slice at a time, each once. */
  async *#keys(prefix: string): AsyncIterable<string[]> {
    const pattern = `${PREFIX}${prefix.replaceAll(/[\\*?[\]^-]/g, '\\$&')}*`
    // The server may return a key more than once.
    const seen = new Set<string>()
    let cursor = '0'
    do {
      const reply = await this.#redis.command('SCAN', cursor, 'MATCH', pattern, 'COUNT', String(SLICE))
      const [next, found] = reply as [cursor: string, keys: string[]]
      const keys = found.filter(key => !seen.has(key))
      for (const key of keys) seen.add(key)
      yield keys
      cursor = next
    } while (cursor !== '0')
  }

  #swap(key: string, seen: string, kept: CachedValue<unknown> | undefined): Promise<unknown> {
    const bound = this.#bound(key)
    // The value is not kept if its lifetime has expired, or if its lifetime is to stay unchanged and there was no value.
    const isKept = kept !== undefined && (kept.ttl === undefined ? seen !== '' : kept.ttl > 0)
    const value = isKept ? JSON.stringify(kept.value) : ''
    const ttl = isKept && kept.ttl !== undefined ? whole(kept.ttl) : ''
    const keys = bound ? [PREFIX + key, BOUND_PREFIX + bound.prefix] : [PREFIX + key]
    return runScript(this.#redis, swapScript, keys, [seen, value, ttl, String(bound?.max ?? 0)])
  }

  #bound(key: string): Capacity | undefined {
    return this.#capacity.find(({ prefix }) => key.startsWith(prefix))
  }
}

/** A present value is never empty: it is JSON. */
const textOf = (reply: unknown): string => (typeof reply === 'string' ? reply : '')

const parse = <T>(reply: unknown): T | undefined => {
  const text = textOf(reply)
  return text === '' ? undefined : (JSON.parse(text) as T)
}

/** The server takes whole milliseconds, at least 1. */
const whole = (ttl: Milliseconds): string => String(Math.max(1, Math.ceil(ttl)))

/** A Lua script that the server runs atomically and caches under its digest. */
interface Script {
  readonly text: string
  readonly digest: string
}

const script = (text: string): Script => ({ text, digest: createHash('sha1').update(text).digest('hex') })

/**
 * Keys of a limited kind are listed in a sorted set, KEYS[2], by their time of expiry. The next insertion deletes expired keys, and drops
 * those that expire first if there are too many.
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
const addScript = script(`${bounds}
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 0 end
note(tonumber(ARGV[2]), tonumber(ARGV[3]))
return 1`)

/**
 * ARGV: the expected value, the new value, its lifetime, the maximum; '' means no value, or an unchanged lifetime.
 * Returns 1, or the present value when it differs from the expected value.
 */
const swapScript = script(`${bounds}
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
const takeScript = script(`${bounds}
forget()
return redis.call('GETDEL', KEYS[1])`)

/** Sends the text of the script if the server does not have it yet. */
async function runScript(
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
