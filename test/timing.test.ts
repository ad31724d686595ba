import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { test } from 'node:test'
import { repository } from './support/service.ts'

/** Ways to sleep and to measure time. `eventually` and `until` wait for states, `FakeSystem` is a clock that the test moves. */
const TIMING =
  /\bset(?:Timeout|Interval)\(|\bsetTimeout\b[^}]*\} from 'node:timers\/promises'|performance\.now|hrtime|cpuUsage|monitorEventLoopDelay|waitForTimeout|pg_sleep|Date\.now\(\) - [a-z]/

/** Files that may use time, and why no test depends on the speed of the machine because of it. */
const allowed: Readonly<Record<string, string>> = {
  'proof/crash.ts': 'reports how long each start took and asserts nothing about it',
  'proof/fuzz-http.ts': 'ends a request that hangs',
  'proof/fuzz.ts': 'reports the longest stall of the event loop and asserts nothing about it',
  'proof/main.ts': 'reports how long a proof took',
  'runtime.test.ts': 'an interval keeps a child process alive until the test ends it',
  'stores/folder-lock.test.ts': 'an interval keeps a child process alive until the test kills it',
  'stores/postgres-database.test.ts':
    'statements that would run longer than the test, until the engine or the test ends them',
  'support/service.ts': 'sets the clock of a service to that of other programs',
  'support/waiting.ts': 'polls for a state and fails when it does not come within minutes',
  'workers/thread-pool.test.ts': 'makes a thread slow to start, and this process busy, for longer than a task may take',
  'ui/hasty.test.ts': 'a task without delay, after which the effects of a page have run',
}

/** Tests against other servers are not part of `npm test`; those servers have clocks of their own. */
const isPeer = (path: string): boolean => path.split('/').includes('peers')

test('no test sleeps for a fixed time or measures time, except for the reasons listed here', () => {
  const root = join(repository, 'test')
  const found = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name.endsWith('.ts'))
    .map(entry => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter(path => !isPeer(path) && path !== 'timing.test.ts')
    .filter(path => TIMING.test(readFileSync(join(root, path), 'utf8')))
  assert.deepEqual(found.sort(), Object.keys(allowed).sort())
})
