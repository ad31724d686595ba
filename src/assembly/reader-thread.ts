import { workerData } from 'node:worker_threads'
import { realSystem } from '../base/system.ts'
import { Revisions } from '../content/revisions.ts'
import { offerReads } from '../core/feature.ts'
import { openDatabase } from '../core/open-store.ts'
import { features } from '../features/features.ts'
import { BaseAddress } from '../http/base-address.ts'
import type { ReadTask } from '../http/readers/read-task.ts'
import { createReaderApp } from '../http/readers/reader-app.ts'
import { readRoutes } from '../http/routes/reads.ts'
import { DependencyCache } from '../stores/dependency-cache.ts'
import { refusalFor } from '../stores/disk.ts'
import { serveTasks } from '../workers/serve-tasks.ts'
import { createReads } from './core-reads.ts'
import { createLedger } from './ledger.ts'
import type { ReaderData } from './readers.ts'

// A thread that answers heavy reads (`http/readers/`), with its own connections and caches.
const { settings, base } = workerData as ReaderData
const CACHE_BYTES = 8 * 2 ** 20
/**
 * A reader thread does one thing at a time. Its database ends a slow statement, and counts as lost without a response, before the thread
 * itself is ended (`readers.ts`): the client learns which of the two it was.
 */
const LIMITS = { connections: 1, statementTimeout: 8000, timeout: 8500 } as const

const system = realSystem
const database = await openDatabase(settings, system, { readOnly: true, limits: LIMITS }).catch((error: unknown) => {
  // The service has the database open already: what prevents this thread from opening it began while the service runs.
  throw refusalFor(error, 'The database')
})
const cache = new DependencyCache(database, CACHE_BYTES, system)
const ledger = createLedger(settings, database, system)
const revisions = new Revisions(settings['service.repository.provenance'])
const core = { settings, system, database, cache, ...createReads(settings, { database, cache, ledger, revisions }) }
const answer = createReaderApp({ base: new BaseAddress(base) }, [
  ...offerReads(core, readRoutes),
  ...features.flatMap(feature => feature.offerReads(core)),
])

serveTasks((task: ReadTask) => cache.during(() => answer(task)))
