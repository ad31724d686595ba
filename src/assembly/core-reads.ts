import type { Lockout } from '../accounts/lockout.ts'
import type { Settings } from '../config/settings.ts'
import { EntryLoader } from '../content/entry-loader.ts'
import { EntryReads } from '../content/entry-reads.ts'
import { EntryViews } from '../content/entry-view.ts'
import { createKindReads } from '../content/kinds/kind-reads.ts'
import { MetadataReads } from '../content/metadata.ts'
import { ResourceReader } from '../content/resources.ts'
import type { Revisions } from '../content/revisions.ts'
import type { Ledger } from '../files/quota-ledger.ts'
import type { Database } from '../stores/database.ts'
import type { DependencyCache } from '../stores/dependency-cache.ts'

interface Dependencies {
  readonly database: Database
  readonly cache: DependencyCache
  readonly ledger: Ledger
  readonly revisions: Revisions
  /** Absent in reader threads, which show no user. */
  readonly lockout?: Lockout
}

/** What reads contexts, entries and what they hold: nothing in it changes the store. */
export function createReads(settings: Settings, deps: Dependencies) {
  const loader = new EntryLoader(deps, { withGroups: settings['service.names.visible-to'] === 'shared' })
  const reading = { ...deps, loader }
  const kinds = createKindReads(reading)
  const views = new EntryViews({ ...reading, kinds }, { publicInfo: settings['service.repository.public-info'] })
  return {
    loader,
    kinds,
    views,
    contexts: kinds.ofType.Context,
    entries: new EntryReads({ loader }),
    metadata: new MetadataReads(reading),
    resources: new ResourceReader({ loader, kinds, views }),
  }
}
