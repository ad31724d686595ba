import type { Milliseconds } from '../base/units.ts'
import type { Database } from '../stores/database.ts'
import { sql } from '../stores/sql.ts'

interface MetadataCopy<Metadata> {
  readonly metadata: Metadata
  /** Wall clock. */
  readonly loadedAt: Milliseconds
}

/** The last valid metadata of each provider, stored in parsed form (D8.6). */
export class MetadataCopies<Metadata> {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** `undefined` also when the copy came from another address. */
  async find(provider: string, url: string): Promise<MetadataCopy<Metadata> | undefined> {
    const row = await this.#database.get<{ metadata: string; loaded: number }>(
      sql`SELECT metadata, loaded FROM sso_metadata WHERE provider = ${provider} AND url = ${url}`,
    )
    return row && { metadata: JSON.parse(row.metadata) as Metadata, loadedAt: row.loaded }
  }

  async store(provider: string, url: string, { metadata, loadedAt }: MetadataCopy<Metadata>): Promise<void> {
    await this.#database.run(sql`INSERT INTO sso_metadata (provider, url, metadata, loaded)
      VALUES (${provider}, ${url}, ${JSON.stringify(metadata)}, ${loadedAt})
      ON CONFLICT (provider) DO UPDATE SET url = excluded.url, metadata = excluded.metadata, loaded = excluded.loaded`)
  }
}
