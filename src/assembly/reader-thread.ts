import { Entries } from '../content/entries.ts'
import { EntryLoader } from '../content/entry-loader.ts'
import { EntryViews } from '../content/entry-view.ts'
import { createKinds } from '../content/kinds/kinds.ts'
import { Metadata } from '../content/metadata.ts'
import { Resources } from '../content/resources.ts'
import { Revisions } from '../content/revisions.ts'
import { Statistics } from '../content/statistics.ts'
import { Trash } from '../content/trash/trash.ts'
import { Ledger } from '../files/quota-ledger.ts'
import { BaseAddress } from '../http/base-address.ts'
import { answerMessage, taskFrom } from '../http/readers/messages.ts'
import { createReaderApp } from '../http/readers/reader-app.ts'
import { Search } from '../search/search.ts'
import { realSystem } from '../base/system.ts'
import { DependencyCache } from '../stores/dependency-cache.ts'
import { lowerPriority } from '../workers/lower-priority.ts'
import { dataOfThread, serveTasks } from '../workers/serve-tasks.ts'
import type { ReaderData, ReaderResult, ReaderTask } from './readers.ts'
import { openDatabase } from './stores.ts'

// A thread that answers heavy reads (`http/readers/`), with its own connections and caches.
lowerPriority()
const { settings, base } = dataOfThread<ReaderData>()
const SEARCH_BYTES = 16 * 2 ** 20
const CACHE_BYTES = 8 * 2 ** 20

const database = await openDatabase(settings, realSystem, { readOnly: true })
const cache = new DependencyCache(database, CACHE_BYTES, realSystem)
const books = { enforced: settings['service.data.quota'], defaultQuota: settings['service.data.quota.default'] }
const ledger = new Ledger(database, realSystem, books)
const revisions = new Revisions(settings['service.repository.provenance'])
const loader = new EntryLoader({ database, cache })
// Nothing is changed here, and users are not shown, so the services that this needs are missing.
const readOnly = { database, cache, loader, ledger, revisions, system: realSystem }
const kinds = createKinds(readOnly as unknown as Parameters<typeof createKinds>[0], { requireCurrentPassword: true })
const loading = { ...readOnly, kinds }
const entries = new Entries(loading as unknown as ConstructorParameters<typeof Entries>[0])
const views = new EntryViews(loading, { publicInfo: settings['service.repository.public-info'] })

const baseAddress = new BaseAddress(base)
const answer = createReaderApp(
  {
    contexts: kinds.ofType.Context,
    database,
    entries,
    ledger,
    metadata: new Metadata(loading as unknown as ConstructorParameters<typeof Metadata>[0]),
    resources: new Resources({ loader, kinds, entries, views }),
    search: new Search(database, loader, { maxBytes: SEARCH_BYTES, revision: () => database.revision }),
    statistics: new Statistics({ database, loader }),
    system: realSystem,
    trash: new Trash(loading as unknown as ConstructorParameters<typeof Trash>[0], {
      retention: settings['service.trash.days'] * 86_400_000,
    }),
    views,
  },
  {
    base: baseAddress,
    options: { search: { maxLimit: settings['service.solr.max-limit'] } } as Parameters<
      typeof createReaderApp
    >[1]['options'],
  },
)

serveTasks(
  async (task: ReaderTask): Promise<ReaderResult> => answerMessage(await cache.during(() => answer(taskFrom(task)))),
)
