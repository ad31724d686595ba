import type { EntryReads } from '../content/entry-reads.ts'
import type { EntryViews } from '../content/entry-view.ts'
import type { ContextReads } from '../content/kinds/context-reads.ts'
import type { MetadataReads } from '../content/metadata.ts'
import type { ResourceReader } from '../content/resources.ts'
import type { Database } from '../stores/database.ts'
import type { ReadHttp } from './http-services.ts'

/** Services for reads of the core that may take long: the process and its reader threads have them. */
export interface ReadServices extends ReadHttp {
  readonly database: Database
  readonly entries: EntryReads
  readonly views: EntryViews
  readonly contexts: ContextReads
  readonly metadata: MetadataReads
  readonly resources: ResourceReader
}

/** The services that a route uses. */
export type Reads<K extends keyof ReadServices> = Pick<ReadServices, K>
