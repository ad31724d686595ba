import type { Core } from '../../core/core.ts'
import { ContextExport } from './export.ts'
import { ContextImport } from './import.ts'
import { EntryRestore } from './restore-entry.ts'
import { StagedImports } from './staged-import.ts'

type Dependencies = Pick<
  Core,
  | 'audit'
  | 'blobs'
  | 'changes'
  | 'database'
  | 'files'
  | 'garbage'
  | 'ledger'
  | 'loader'
  | 'log'
  | 'system'
  | 'translateArchive'
>

/** Export and import of contexts, for the service and for commands. */
export function createArchives(deps: Dependencies) {
  const importing = { ...deps, stagedImports: new StagedImports(deps) }
  return {
    exports: new ContextExport(deps),
    entryRestore: new EntryRestore(importing),
    imports: new ContextImport({ ...importing, translate: deps.translateArchive }),
  }
}
