import type { Migration } from '../../stores/migrations.ts'
import { sql } from '../../stores/sql.ts'

/** Schema migrations for the table that only this module uses. */
export const linkSteps: readonly Migration[] = [
  {
    id: 25,
    name: 'public links',
    statements: [
      // No reference to the entry: one in the trash keeps its links. `entry_created` tells it from a later entry with its id.
      sql`CREATE TABLE public_links (
        id TEXT PRIMARY KEY,
        digest TEXT NOT NULL UNIQUE,
        context TEXT NOT NULL REFERENCES contexts (id) ON DELETE CASCADE,
        entry TEXT NOT NULL,
        entry_created BIGINT NOT NULL,
        name TEXT,
        password TEXT,
        expires BIGINT,
        max_downloads BIGINT,
        downloads BIGINT NOT NULL DEFAULT 0,
        created_by TEXT NOT NULL REFERENCES principals (id) ON DELETE CASCADE,
        created BIGINT NOT NULL,
        last_used BIGINT
      )`,
      sql`CREATE INDEX public_links_by_entry ON public_links (context, entry)`,
      sql`CREATE INDEX public_links_by_creator ON public_links (created_by, created)`,
      sql`CREATE INDEX public_links_by_age ON public_links (created)`,
    ],
  },
  {
    id: 50,
    name: 'sealed secrets of public links',
    // Absent for earlier links, whose secret nobody can read again.
    statements: [sql`ALTER TABLE public_links ADD COLUMN sealed TEXT`],
  },
]
