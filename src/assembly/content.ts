import { AccessMails, type ShareMailOptions } from '../content/access-mails.ts'
import { ContextExport } from '../content/archive/export.ts'
import { Trash } from '../content/trash/trash.ts'
import { tmpdir } from 'node:os'
import type { System } from '../base/system.ts'
import type { Settings } from '../config/settings.ts'
import { FileZips } from '../content/archive/file-zip.ts'
import { ContextRestore } from '../content/archive/restore-context.ts'
import { EntryRestore } from '../content/archive/restore-entry.ts'
import { ContextImport } from '../content/archive/import.ts'
import type { Changes } from '../content/changes.ts'
import { Creation } from '../content/creation.ts'
import { Entries } from '../content/entries.ts'
import { EntryLoader } from '../content/entry-loader.ts'
import { EntryViews } from '../content/entry-view.ts'
import { createKinds } from '../content/kinds/kinds.ts'
import { LinkVisits } from '../content/links/link-visits.ts'
import { PublicLinks } from '../content/links/links.ts'
import { ListMoves } from '../content/list-moves.ts'
import { Metadata } from '../content/metadata.ts'
import { Quotas } from '../content/quotas.ts'
import { ResumableUploads } from '../content/resumable-uploads.ts'
import { Resources } from '../content/resources.ts'
import type { Revisions } from '../content/revisions.ts'
import { Statistics } from '../content/statistics.ts'
import type { StagedImports } from '../files/staged-import.ts'
import type { ResumableFiles } from '../files/resumable-files.ts'
import type { Files } from '../files/files.ts'
import type { Ledger } from '../files/quota-ledger.ts'
import type { Accounts } from './accounts.ts'
import { Acquaintances } from '../search/acquaintances.ts'
import { Search } from '../search/search.ts'
import type { Database } from '../stores/database.ts'
import type { DependencyCache } from '../stores/dependency-cache.ts'
import type { EphemeralStore } from '../stores/ephemeral-store.ts'

interface ContentDependencies extends Accounts {
  /** Absent in commands, which send nothing. */
  readonly shareMails?: ShareMailOptions & { readonly ephemeral: EphemeralStore }
  readonly database: Database
  readonly cache: DependencyCache
  readonly changes: Changes
  readonly revisions: Revisions
  readonly files: Files
  readonly resumableFiles: ResumableFiles
  readonly stagedImports: StagedImports
  readonly ledger: Ledger
  readonly system: System
}

/** Contexts, entries and what they hold. */
export function createContent(settings: Settings, deps: ContentDependencies) {
  const names = settings['service.names.visible-to']
  const loader = new EntryLoader(deps, { withGroups: names === 'shared' })
  const kinds = createKinds(
    { ...deps, loader, requireFresh: caller => deps.stepUp.requireFresh(caller) },
    { requireCurrentPassword: settings['service.auth.password.require-current-password'] },
  )
  const contexts = kinds.ofType.Context
  const loading = { ...deps, loader, kinds }
  const entries = new Entries(loading)
  const offersLinks = settings['service.public-links']
  const views = new EntryViews(loading, { publicInfo: settings['service.repository.public-info'] })
  return {
    entries,
    views,
    contexts,
    accessMails:
      deps.mails && deps.shareMails && new AccessMails({ ...loading, ...deps.shareMails, mails: deps.mails }),
    quotas: new Quotas(loading),
    resumableUploads: new ResumableUploads({ ...loading, entries }),
    creation: new Creation(
      { ...loading, contexts },
      { groupContextsForAll: settings['service.nonadmin.group-context-creation'] },
    ),
    metadata: new Metadata(loading),
    resources: new Resources({ loader, kinds, entries, views }),
    listMoves: new ListMoves(loading),
    zips: new FileZips(deps),
    exports: new ContextExport(deps),
    contextRestore: new ContextRestore({ ...deps, contexts }),
    entryRestore: new EntryRestore(loading),
    imports: new ContextImport({
      ...loading,
      translate: async (source, hints) => {
        // Loaded when it is needed: it takes memory.
        const { translateContextExport } = await import('../migration/entrystore/context-export.ts')
        const { openSqliteScratch } = await import('../stores/sqlite/sqlite-scratch.ts')
        return await translateContextExport(source, hints, {
          openScratch: () => openSqliteScratch(tmpdir()),
          system: deps.system,
        })
      },
    }),
    trash: new Trash(loading, { retention: settings['service.trash.days'] * 86_400_000 }),
    statistics: new Statistics(loading),
    links: offersLinks ? new PublicLinks({ ...loading, secrets: deps.linkSecrets }) : undefined,
    search: new Search(deps.database, loader),
    acquaintances: names === 'users' ? undefined : new Acquaintances(deps.database, names),
    linkVisits: offersLinks ? new LinkVisits(loading) : undefined,
  }
}
