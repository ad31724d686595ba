import type { ContextQuotaSlot } from '../content/context-quota.ts'
import type { System } from '../base/system.ts'
import type { Settings } from '../config/settings.ts'
import type { Changes } from '../content/changes.ts'
import { Creation } from '../content/creation.ts'
import { AccessReads } from '../content/access-reads.ts'
import { Entries } from '../content/entries.ts'
import { createKinds } from '../content/kinds/kinds.ts'
import { ListMoves } from '../content/list-moves.ts'
import { Metadata } from '../content/metadata.ts'
import { QuotaRefusals } from '../content/quota-refusals.ts'
import { Resources } from '../content/resources.ts'
import type { Revisions } from '../content/revisions.ts'
import type { Files } from '../files/files.ts'
import type { Ledger } from '../files/quota-ledger.ts'
import type { Accounts } from './accounts.ts'
import { createReads } from './core-reads.ts'
import { Acquaintances } from '../search/acquaintances.ts'
import type { Database } from '../stores/database.ts'
import type { DependencyCache } from '../stores/dependency-cache.ts'

interface ContentDependencies extends Accounts {
  readonly database: Database
  readonly cache: DependencyCache
  readonly changes: Changes
  readonly revisions: Revisions
  readonly files: Files
  readonly ledger: Ledger
  readonly system: System
}

export type Content = ReturnType<typeof createContent>

/** Contexts, entries and what they hold. */
export function createContent(settings: Settings, deps: ContentDependencies) {
  const names = settings['service.names.visible-to']
  const contextQuota: ContextQuotaSlot = {}
  const { loader, views, kinds: reads } = createReads(settings, deps)
  const kinds = createKinds(
    { ...deps, loader, contextQuota, requireFresh: caller => deps.stepUp.requireFresh(caller) },
    reads.ofType,
    { requireCurrentPassword: settings['service.auth.password.require-current-password'] },
  )
  const contexts = kinds.ofType.Context
  const loading = { ...deps, loader, kinds }
  const entries = new Entries(loading)
  return {
    loader,
    entries,
    accessReads: new AccessReads(loading),
    views,
    contexts,
    contextQuota,
    quotaRefusals: new QuotaRefusals(loader),
    creation: new Creation(
      { ...loading, contexts },
      { groupContextsForAll: settings['service.nonadmin.group-context-creation'] },
    ),
    metadata: new Metadata(loading),
    resources: new Resources({ loader, kinds, entries, views }),
    listMoves: new ListMoves(loading),
    acquaintances: names === 'users' ? undefined : new Acquaintances(deps.database, names),
  }
}
