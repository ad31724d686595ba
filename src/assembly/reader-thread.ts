import { workerData } from 'node:worker_threads'
import { realSystem } from '../base/system.ts'
import { Revisions } from '../content/revisions.ts'
import { Ledger } from '../files/quota-ledger.ts'
import { BaseAddress } from '../http/base-address.ts'
import type { ReadTask } from '../http/readers/read-task.ts'
import { createReaderApp } from '../http/readers/reader-app.ts'
import type { Services } from '../http/services.ts'
import { DependencyCache } from '../stores/dependency-cache.ts'
import { serveTasks } from '../workers/serve-tasks.ts'
import { createContent } from './content.ts'
import { quotaOptions } from './quota.ts'
import type { ReaderData } from './readers.ts'
import { openDatabase } from './stores.ts'

// A thread that answers heavy reads (`http/readers/`), with its own connections and caches.
const { settings, base } = workerData as ReaderData
const CACHE_BYTES = 8 * 2 ** 20

const database = await openDatabase(settings, realSystem, { readOnly: true })
const cache = new DependencyCache(database, CACHE_BYTES, realSystem)
const parts = {
  database,
  cache,
  ledger: new Ledger(database, realSystem, quotaOptions(settings)),
  revisions: new Revisions(settings['service.repository.provenance']),
  system: realSystem,
}
// Nothing is changed here, and nobody signs in, so the services that these need are missing.
const answer = createReaderApp({
  ...parts,
  ...createContent(settings, parts as unknown as Parameters<typeof createContent>[1]),
  base: new BaseAddress(base),
  options: { search: { maxLimit: settings['service.solr.max-limit'] } },
} as unknown as Services)

serveTasks((task: ReadTask) => cache.during(() => answer(task)))
