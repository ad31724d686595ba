import { tmpdir } from 'node:os'
import type { System } from '../base/system.ts'
import type { TranslateArchive } from '../core/translate-archive.ts'

/** Translates the export of a context of EntryStore. The translator is loaded when it is needed, because it takes memory. */
export const archiveTranslator =
  (system: System): TranslateArchive =>
  async (source, hints) => {
    const { translateContextExport } = await import('../../migration/entrystore/context-export.ts')
    const { openSqliteScratch } = await import('../stores/sqlite/sqlite-scratch.ts')
    return await translateContextExport(source, hints, { openScratch: () => openSqliteScratch(tmpdir()), system })
  }
