import type { RandomAccess } from '../files/zip.ts'

/** An archive of another program, translated into the format of this service. */
export interface TranslatedArchive {
  readonly archive: RandomAccess
  /** The translator's report, for the response. */
  readonly report: unknown
  /** Deletes temporary data. */
  close(): Promise<void>
}

/** What the caller adds to an archive of another program. */
export interface TranslationHints {
  /** Names of groups by their id in the archive, for archives that name no groups. */
  readonly groups: ReadonlyMap<string, string>
}

/** `undefined` for an archive that needs no translation. @throws {InvalidInput} `invalid-archive` */
export type TranslateArchive = (source: RandomAccess, hints: TranslationHints) => Promise<TranslatedArchive | undefined>
