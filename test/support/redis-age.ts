import type { RedisServer } from './peers/redis.ts'

/** Shortens every TTL, and moves the times in the sets of bounded kinds back by the same amount. */
const script = `
local by = tonumber(ARGV[1])
for _, key in ipairs(redis.call('KEYS', '*')) do
  local left = redis.call('PTTL', key)
  if left > by then redis.call('PEXPIRE', key, left - by)
  elseif left >= 0 then redis.call('DEL', key)
  elseif redis.call('TYPE', key).ok == 'zset' then
    for _, member in ipairs(redis.call('ZRANGE', key, 0, -1)) do redis.call('ZINCRBY', key, -by, member) end
  end
end`

let ageing: Promise<unknown> = Promise.resolve()

/** Lets a database of Redis grow older when a test turns the clock of its service: Redis has one of its own. */
export function age(server: RedisServer, database: number, by: number): void {
  ageing = ageing.then(() => server.cli('-n', String(database), 'EVAL', script, '0', String(by)))
}

/** Resolves when all that time has passed; a request waits for it. */
export const aged = (): Promise<unknown> => ageing
